/** `import`: takes over models, keys and balances of LiteLLM, new-api, one-api, OpenRouter. */

import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import type { Command } from 'commander'
import { makePlans } from '../access/plan-config.ts'
import { openCommandServices } from '../app/open-command-services.ts'
import { readSchemaState } from '../app/open-database.ts'
import { readConfigText } from '../app/providers/config-file.ts'
import type { Config } from '../config/config.ts'
import { exampleFile } from '../config/example.ts'
import { withMaxKeys } from '../config/list-text.ts'
import { systemClock, toRfc3339 } from '../kernel/clock.ts'
import type { Decimal } from '../kernel/decimal.ts'
import { toUsd } from '../kernel/money.ts'
import { movedGrants } from '../ledger/store/moved-grants.ts'
import { readMarkup } from '../models/price-files/price-entry.ts'
import { configOf, Exit, exitCodes, printJson, say, withSettings } from './context.ts'
import { pathOf, writeText } from './model-changes.ts'
import {
  applyMoves,
  type NeededKeys,
  neededKeys,
  type Office,
  type Outcome,
  presentKeys,
} from './move-in/apply-moves.ts'
import { type Proposal, proposalOf } from './move-in/config-proposal.ts'
import { addMisfit, type FoundOwner, type SourceContents } from './move-in/found.ts'
import { type KeyWish, type MovePlan, planMoves } from './move-in/plan-moves.ts'
import {
  type Gateway,
  gateways,
  readMap,
  readPriceFile,
  readSource,
} from './move-in/read-source.ts'
import { reportJson, reportLines, tomlOf } from './move-in/report.ts'
import { writeOut } from './output.ts'
import { tellServer } from './tell-server.ts'
import { readAccount, readWord } from './values.ts'

type MoveOptions = Record<string, unknown> & {
  account?: string
  map?: string
  as?: string
  secrets: string
  prices?: string
  context?: number
  markup?: Decimal
  dryRun?: boolean
  json?: boolean
}

export function moveInCommand(program: Command): void {
  withSettings(program.command('import'))
    .description('take over models, keys and balances of another gateway')
    .argument('<gateway>', gateways.join(', '), (text) => readWord('gateway', text, gateways))
    .argument('<file...>', 'its configuration, its database, or what was exported of it')
    .option('--account <0x…>', 'put all keys below this account, one parent a user', readAccount)
    .option('--map <file>', 'CSV with the columns user and address: accounts of their own')
    .option('--as <name>', 'a name of the other gateway, where there are two of a kind')
    .option('--secrets <file>', 'where the new secrets are written, once', 'moved-keys.csv')
    .option('--prices <file>', "LiteLLM's public price file, for models without a price")
    .option('--context <tokens>', 'context of models of which none is published', readTokens)
    .option('--markup <percent>', 'sell at cost plus this, such as 10%', readFactor)
    .option('--dry-run', 'print what would change, and change nothing')
    .option('--json', 'print the report as JSON')
    .action(moveIn)
}

function readFactor(text: string): Decimal {
  const factor = readMarkup(text)
  if (factor) return factor
  throw new Exit(exitCodes.usage, `"${text}" is not a markup; use a percentage such as 8% or 12.5%`)
}

function readTokens(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new Exit(exitCodes.usage, `"${text}" is not a number of tokens`)
}

async function moveIn(gateway: Gateway, files: string[], options: MoveOptions): Promise<void> {
  const now = systemClock.now()
  const config = configOf(options)
  const as = nameOf(gateway, options)
  const found = await readSource(gateway, files, now)
  const prices = options.prices === undefined ? {} : await readPriceFile(options.prices)
  const map = options.map === undefined ? undefined : await readMap(options.map)
  const accountOf = placeFinder(options.account, map, found)
  const path = pathOf(options)
  const before = readConfigText(path)
  const proposal = await proposalOf(before || exampleFile(), found, {
    ...{ data: config.data, markup: options.markup },
    facts: { prices, contextTokens: options.context, now },
  })
  if (!options.account && !map) {
    if (found.keys.length > 0) {
      say(`${found.keys.length} keys stay there: take them over with --account or --map.`)
    }
    if (!options.dryRun) writeProposal(path, before, proposal)
    return tell(options, { found, proposal, config, path })
  }
  await assertCurrent(config)
  await using office = await openCommandServices(config)
  const plan = await toldWrong(async () =>
    planMoves(found, {
      ...{ as, accountOf, now, mark: office.ids.mark ?? '' },
      ...{ granted: await movedGrants(office.db), aliases: config.aliases ?? {} },
    }),
  )
  const present = await presentKeys(office, plan)
  const needed = await toldWrong(() => neededKeys(office, plan, present))
  raiseLimits(proposal, needed)
  assertSecretsFile(plan, present, options)
  if (options.dryRun) return tell(options, { found, proposal, config, path, plan, present })
  writeProposal(path, before, proposal)
  const plans = plansWith(config, needed)
  const outcome = await apply(office, { plan, present, plans, found, secrets: options.secrets })
  await tell(options, { found, proposal, config, path, plan, present, outcome })
}

/** @throws Exit 1 with the words of the error */
async function toldWrong<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Exit || !(error instanceof Error)) throw error
    throw new Exit(exitCodes.failed, `${error.message}. Nothing was changed.`)
  }
}

function nameOf(gateway: Gateway, { as = gateway }: MoveOptions): string {
  if (/^[a-z0-9][a-z0-9-]{0,31}$/.test(as)) return as
  throw new Exit(exitCodes.usage, `"${as}" is not a name: use a-z, 0-9 and -`)
}

/** A dry run opens the database too, which would migrate an older one. @throws Exit 1 */
async function assertCurrent(config: Config): Promise<void> {
  const state = await readSchemaState(config)
  if (!state || state.applied.length === 0 || state.pending.length === 0) return
  throw new Exit(exitCodes.failed, 'The database is of an older build: counterfoil migrate first.')
}

function placeFinder(
  account: string | undefined,
  map: ReadonlyMap<string, string> | undefined,
  { owners, misfits }: SourceContents,
) {
  for (const user of map?.keys() ?? []) {
    if (owners.some(({ names, id }) => names.includes(user) || id === user)) continue
    addMisfit(misfits, 'a user of the map that is not there', user)
  }
  return ({ names, id }: FoundOwner) => {
    const own = [id, ...names].map((name) => map?.get(name)).find((one) => one !== undefined)
    if (own !== undefined) return { account: own, isShared: false }
    return account === undefined ? undefined : { account, isShared: true }
  }
}

/** @throws Exit 1 for a plan whose entry a person has to change */
function raiseLimits(proposal: Proposal, needed: NeededKeys): void {
  for (const [plan, keys] of needed) {
    const raised = proposal.text === undefined ? undefined : withMaxKeys(proposal.text, plan, keys)
    if (raised === undefined) {
      const why = `The plan ${plan} needs limits.max_keys = ${keys} in its [[plans]].`
      throw new Exit(exitCodes.failed, `${why} Nothing was changed.`)
    }
    proposal.text = raised
    proposal.raised.set(plan, keys)
  }
}

function plansWith(config: Config, needed: NeededKeys) {
  const raised = [...needed].map(([id, keys]) => ({ id, limits: { max_keys: keys } }))
  return makePlans([...config.plans, ...raised], config.limits)
}

/** @throws Exit 1 when secrets would be lost or would replace others */
function assertSecretsFile(
  plan: MovePlan,
  present: ReadonlyMap<string, unknown>,
  { secrets }: MoveOptions,
): void {
  if (plan.keys.every(({ id }) => present.has(id)) || !existsSync(secrets)) return
  const why = `${secrets} is there: name another file for the new secrets with --secrets.`
  throw new Exit(exitCodes.failed, `${why} Nothing was changed.`)
}

function writeProposal(path: string, before: string, { text, keyFiles }: Proposal): void {
  if (text === undefined) writeText(path, text, before)
  for (const [file, secret] of keyFiles) {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeFileSync(file, `${secret}\n`, { mode: 0o600, flag: 'wx' })
    chmodSync(file, 0o600)
  }
  if (text !== (before || exampleFile())) writeText(path, text, before)
}

type Applied = {
  plan: MovePlan
  present: Awaited<ReturnType<typeof presentKeys>>
  plans: ReturnType<typeof makePlans>
  found: SourceContents
  secrets: string
}

/** Each secret is in its file before the next key is made. */
async function apply(office: Office, { secrets, found, ...rest }: Applied): Promise<Outcome> {
  const isNew = rest.plan.keys.some(({ id }) => !rest.present.has(id))
  // Before any key is made: a secret that could not be written would be lost.
  const file = isNew ? openSync(secrets, 'wx', 0o600) : undefined
  const write = (fields: readonly string[]): void => {
    if (file !== undefined) writeSync(file, `${fields.map(quoted).join(',')}\n`)
  }
  write(columns)
  const keep = (wish: KeyWish, secret: string): void =>
    write([
      ...[wish.owner, wish.isParent ? 'parent' : 'key', wish.name, wish.id, secret],
      ...[wish.account, toUsd(wish.capLimit), toRfc3339(wish.expiresAt)],
    ])
  try {
    return await applyMoves(office, { ...rest, misfits: found.misfits, keep })
  } finally {
    if (file !== undefined) {
      fsyncSync(file)
      closeSync(file)
    }
  }
}

const columns = ['owner', 'kind', 'name', 'key_id', 'secret', 'account', 'cap_usd', 'expires_at']

const quoted = (field: string): string =>
  /[",\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field

type ImportOutcome = Parameters<typeof reportJson>[0] & { config: Config; path: string }

async function tell(options: MoveOptions, told: ImportOutcome): Promise<void> {
  const { dryRun = false, json, secrets } = options
  const server = dryRun ? undefined : tellServer(told.config)
  if (json) {
    printJson({ ...reportJson(told, dryRun), ...(server && { server: server.status }) })
    return
  }
  if (dryRun) await writeOut(tomlOf(told.proposal))
  for (const line of reportLines(told, dryRun)) say(line)
  if (!server) return say('Nothing was changed.')
  if (told.outcome && told.outcome.created > 0) {
    say(
      `The new secrets are in ${secrets} (0600), and nowhere else: hand them out, then delete it.`,
    )
  }
  say(`${told.path}: ${server.words}`)
}
