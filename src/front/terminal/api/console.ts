/** The look-ups of the terminal inside the console. */
import { Elysia } from 'elysia'
import { sessionAuth } from '../../../access/accounts/needs-session.ts'
import { accountListedSince } from '../../../access/plan-history.ts'
import type { Actor } from '../../../kernel/acting.ts'
import { isId } from '../../../kernel/ids.ts'
import { defaultPageLimit, toListView } from '../../../kernel/pagination.ts'
import { refuse } from '../../../kernel/refusal.ts'
import { toRunView } from '../../../runs/run-view.ts'
import { checkBody } from '../../../web/http/check-body.ts'
import { readFields } from '../../../web/http/fields.ts'
import type { PublicDeps } from '../../explorer/public-cache.ts'
import { bodyBytes } from '../api.ts'
import { commands, readLine, type Usage } from '../language.ts'
import { commandBody } from '../shapes.ts'
import { type CommandResult, lookUps } from './commands.ts'
import { helpLines, runLines, runsLines } from './lines.ts'

const ownCommands = [
  { name: 'runs', takes: 'nothing', about: 'your newest runs' },
  { name: 'run', takes: 'word', what: 'run id', about: 'one of your runs' },
] as const satisfies readonly Usage[]

/** What the console takes behind a slash: all but `ask`, which is what is written without one. */
const consoleCommands = [...commands.filter((one) => one.name !== 'ask'), ...ownCommands]

/**
 * `POST /api/portal/console/command`: the terminal's look-ups for a signed-in account, and
 * who sees their own private receipts and runs. They cost nothing and are not counted.
 */
export const consoleCommandApi = (deps: PublicDeps) =>
  new Elysia({ name: 'console-command-api' }).use(sessionAuth(deps)).post(
    '/api/portal/console/command',
    async ({ request, acting }) => {
      const { value } = await readFields(request, { limitBytes: bodyBytes })
      const { command } = checkBody(commandBody, value)
      return runOwn(deps, command, acting)
    },
    { needsSession: { action: 'runs:write' }, parse: 'none' },
  )

/** Runs a line for a signed-in account. @throws Refusal as the route */
export async function runOwn(deps: PublicDeps, line: string, acting: Actor) {
  const { name, argument } = readLine(line, consoleCommands)
  const told = await tell(deps, name, argument, acting)
  return { object: 'terminal.result' as const, command: name, ...told }
}

type Name = (typeof consoleCommands)[number]['name']

function tell(
  deps: PublicDeps,
  name: Name,
  argument: string,
  acting: Actor,
): CommandResult | Promise<CommandResult> {
  if (name === 'runs') return runs(deps, acting)
  if (name === 'run') return run(deps, argument, acting)
  if (name === 'help') {
    return { lines: helpLines(consoleCommands), data: toListed(consoleCommands) }
  }
  return lookUps[name](deps, argument, { acting })
}

const toListed = (known: readonly Usage[]) => ({ object: 'list', data: known })

async function runs(deps: PublicDeps, acting: Actor): Promise<CommandResult> {
  const from = await accountListedSince(deps, acting.account)
  const page = { limit: defaultPageLimit, after: undefined }
  const { items, next } = await deps.runs.listShown(acting, { from }, page)
  const shown = items.map((one) => toRunView(one.run))
  return {
    lines: runsLines(items.map((one) => one.run)),
    data: toListView({ items: shown, hasMore: next !== undefined }),
  }
}

async function run(deps: PublicDeps, id: string, acting: Actor): Promise<CommandResult> {
  const found = isId('run', id) ? await deps.runs.findShown(acting, id) : undefined
  if (!found) refuse('not_found', 'There is no such run of yours.')
  return { lines: runLines(found.run), data: toRunView(found.run) }
}
