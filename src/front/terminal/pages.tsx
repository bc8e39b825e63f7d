/** `/terminal`: the page, and its answers to a browser without script. */
import { Elysia } from 'elysia'
import { readerAccount, sessionAuth } from '../../access/accounts/needs-session.ts'
import { Refusal } from '../../kernel/refusal.ts'
import { readFields } from '../../web/http/fields.ts'
import { keylessGuard } from '../../web/http/keyless.ts'
import { queryOf, readText } from '../../web/http/query.ts'
import type { Frame } from '../../web/ui/frame.ts'
import { type Page, publicPage } from '../../web/ui/layout.tsx'
import { PageHead, Split } from '../../web/ui/panel.tsx'
import { reply } from '../../web/ui/reply.ts'
import type { PublicDeps } from '../explorer/public-cache.ts'
import { type Allowance, allowanceOf } from './allowance.ts'
import type { TerminalResult } from './api/result.ts'
import { bodyBytes, runLine } from './api.ts'
import { TerminalForm, TerminalHelp, type TerminalOutput, terminalPath } from './pages/prompt.tsx'
import type { Slots } from './slots.ts'
import { plain, toLines } from './text.ts'

export const terminalPages = (deps: PublicDeps, frame: Frame, slots: Slots) => {
  const pageOf = async (request: Request, view: View): Promise<Page> =>
    publicPage({
      frame,
      title: 'Terminal',
      description:
        'Try this service without an account: ask a model, get a signed receipt and check it, ' +
        'look up prices, proofs and anchors.',
      here: terminalPath,
      main: <TerminalPage view={view} />,
      scripts: ['terminal'],
      ...(await readerAccount(deps, request)),
    })

  return new Elysia({ name: 'terminal-pages' })
    .use(sessionAuth(deps))
    .use(keylessGuard(deps))
    .get(
      terminalPath,
      async ({ network, request, set }) => {
        const command = (readText(queryOf(request), 'command') ?? '').slice(0, 2200)
        const allowance = await allowanceOf(deps, network)
        const page = await pageOf(request, { command: plain(command), allowance })
        return reply({ request, set }, { page })
      },
      { isKeyless: true },
    )
    .post(
      terminalPath,
      async ({ network, request, set }) => {
        const { value } = await readFields(request, { limitBytes: bodyBytes })
        const text = textOf(value)
        const { status, ...view } = await answer(text, () =>
          runLine(deps, text, { network, slots }, { request, set }),
        )
        const allowance = view.allowance ?? (await allowanceOf(deps, network))
        const page = await pageOf(request, { ...view, allowance })
        return reply({ request, set }, { page, status })
      },
      { sameOrigin: true, isKeyless: true, parse: 'none' },
    )
}

type View = { command?: string; said?: TerminalOutput; allowance: Allowance }
type Answer = Omit<View, 'allowance'> & { status: number; allowance?: Allowance }

/** The answer to a line; a refused line stays in its field. */
async function answer(text: string, run: () => Promise<TerminalResult>): Promise<Answer> {
  try {
    const { lines, receipt, allowance } = await run()
    return { status: 200, allowance, said: { command: plain(text), lines, receiptId: receipt?.id } }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const said = { command: plain(text), lines: toLines(error.message), fault: true }
    return { status: error.status, command: plain(text), said }
  }
}

function textOf(value: unknown): string {
  const { command } = (value ?? {}) as { command?: unknown }
  return typeof command === 'string' ? command : ''
}

const TerminalPage = ({ view: { command, said, allowance } }: { view: View }) => (
  <>
    <PageHead title="Terminal">
      <p class="quiet">
        For programs: <code>POST /v1/terminal/run</code>
      </p>
    </PageHead>
    <Split>
      <TerminalForm command={command} said={said} allowance={allowance} />
      <TerminalHelp />
    </Split>
  </>
)
