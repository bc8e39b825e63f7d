/** The console: its page, runs, commands, and the key that pays. */
import { Elysia } from 'elysia'
import { currentSession, sessionAuth, wantsJson } from '../../access/accounts/needs-session.ts'
import { signInPath } from '../../access/accounts/next-page.ts'
import { dayMs } from '../../access/keys/key.ts'
import { toKeyView } from '../../access/keys/key-view.ts'
import type { ShownKey } from '../../access/keys/shown-key.ts'
import type { Deps } from '../../app/deps-port.ts'
import { type Actor, whoOf } from '../../kernel/acting.ts'
import { toRfc3339 } from '../../kernel/clock.ts'
import { toJsonInteger } from '../../kernel/money.ts'
import { Refusal } from '../../kernel/refusal.ts'
import { onceOf } from '../../ledger/once.ts'
import { windowStart } from '../../ledger/window.ts'
import { toModelView } from '../../models/catalogue.ts'
import type { OpenedRun } from '../../runs/opening.ts'
import type { Call } from '../../storage/idempotency/call.ts'
import { answerOnce, callOf } from '../../web/http/answer-once.ts'
import { checkBody } from '../../web/http/check-body.ts'
import { readFields } from '../../web/http/fields.ts'
import { makeLimiter } from '../../web/http/limits.ts'
import { queryOf, readText } from '../../web/http/query.ts'
import type { Frame } from '../../web/ui/frame.ts'
import { dashboardPage } from '../../web/ui/layout.tsx'
import { type ReplyContext, reply, sendOn } from '../../web/ui/reply.ts'
import { answerCommand } from './api/answer-page.ts'
import { beginAsked } from './api/begin.ts'
import { streamAnswer } from './api/console-stream.ts'
import { answerForm, pageOfTalk } from './api/kept-page.ts'
import { answerProgram } from './api/program.ts'
import { type Draft, readQuestion } from './api/question.ts'
import { draftOfRun } from './api/run-draft.ts'
import { chatModels } from './chat-run.ts'
import { changeCap, defaultCap, readKey, renewKey } from './console-key.ts'
import { capFaultOf } from './fault-words.ts'
import { CapLeft } from './portal/ask-form.tsx'
import type { ConsoleView } from './portal/console-view.ts'
import { KeyPanel } from './portal/side.tsx'
import { ConsolePage, consolePath } from './portal/talk.tsx'
import { capBody } from './shapes.ts'
import { commandIn } from './talk.ts'

/** Runs a slash command of a signed-in account. */
export type RunCommand = (line: string, acting: Actor) => Promise<{ lines: readonly string[] }>

type Context = ReplyContext & { acting: Actor }

export const consolePortal = (deps: Deps, frame: Frame, runCommand: RunCommand) => {
  const { settings, clock } = deps
  const requests = makeLimiter(clock)

  const viewOf = async (acting: Actor, draft: Draft, more: Partial<ConsoleView> = {}) => ({
    account: acting.account,
    baseUrl: settings.baseUrl,
    bodyBytes: settings.bodyBytes,
    now: clock.now(),
    models: chatModels(deps),
    draft,
    once: deps.ids.make('req'),
    key: await readKey(deps, acting),
    ...more,
  })
  const show = (context: Context, view: ConsoleView, status = 200) => {
    const { acting } = context
    const main = <ConsolePage view={view} />
    const shown = { frame, title: 'Console', here: consolePath, acting, main }
    return reply(context, { page: dashboardPage({ ...shown, scripts: ['console'] }), status })
  }
  const panel = (key: ShownKey | undefined, asked?: ConsoleView['cap']) => (
    <>
      <KeyPanel shown={key} now={clock.now()} asked={asked} />
      <CapLeft shown={key} isFragment />
    </>
  )

  return new Elysia({ name: 'console-portal' })
    .use(sessionAuth(deps))
    .get(
      consolePath,
      async ({ request, set, acting }) => {
        const query = queryOf(request)
        const talk = readText(query, 'talk')
        if (talk !== undefined) {
          const fresh = newDraft(deps)
          const { draft, status: _, ...more } = await pageOfTalk(deps, acting, talk, fresh)
          return show({ request, set, acting }, await viewOf(acting, draft, more))
        }
        const [model, input] = [readText(query, 'model'), readText(query, 'input')]
        const again = await draftOfRun(deps, acting, readText(query, 'run'))
        const draft = { ...newDraft(deps, again?.model ?? model, input), ...again }
        return show({ request, set, acting }, await viewOf(acting, draft))
      },
      { needsSession: { page: 'runs:write' } },
    )
    .get(
      '/api/portal/console',
      async ({ request, set, acting }) => {
        const key = await readKey(deps, acting)
        if (request.headers.get('hx-request') === 'true') {
          return reply({ request, set }, { fragment: panel(key), seeOther: consolePath })
        }
        return toConsoleView(deps, key)
      },
      { needsSession: { action: 'runs:write' } },
    )
    .post(
      '/api/portal/console/run',
      async ({ request, server, set, acting, session, visitor }) => {
        const asked = await readQuestion(request, settings.bodyBytes)
        const wish = { asked, acting, session: session.id, address: visitor.clientAddress }
        const begin = (call?: Call) => {
          const once = call && onceOf<OpenedRun>(deps, call, () => undefined)
          return beginAsked(deps, requests, { ...wish, once })
        }
        if (wantsJson(request)) {
          const route = `POST /api/portal/console/run ${wantsWhole(request)}`
          const sent = { request, who: whoOf(acting), route, text: JSON.stringify(asked.received) }
          const call = callOf(deps, sent)
          return answerOnce<object>(deps, { set }, call, async () => {
            const live = await begin(call)
            if (wantsWhole(request)) return answerProgram(deps, live, { request, set })
            return streamAnswer(deps, live, { request, server, set })
          })
        }
        const command = commandIn(asked.draft.input)
        const answered = await (command === undefined
          ? answerForm(deps, { request, acting, asked }, begin)
          : answerCommand(asked.draft, () => runCommand(command, acting)))
        // The session may have ended meanwhile, and only its account may see this page.
        if (!(await currentSession(deps, request))) return sendOn({ set }, signInPath(consolePath))
        if ('talk' in answered) {
          const seeOther = `${consolePath}?talk=${answered.talk}`
          return reply({ request, set }, { fragment: <></>, seeOther })
        }
        const { draft, status, ...more } = answered
        return show({ request, set, acting }, await viewOf(acting, draft, more), status)
      },
      { needsSession: { action: 'runs:write' }, parse: 'none' },
    )
    .post(
      '/api/portal/console/cap',
      async ({ request, set, acting }) => {
        const { value } = await readFields(request, { limitBytes: settings.bodyBytes })
        const { cap } = checkBody(capBody, value)
        const key = await changeCap(deps, acting, cap).catch(refusalOf)
        if (!(key instanceof Refusal)) {
          if (wantsJson(request)) return toConsoleView(deps, key)
          return reply({ request, set }, { fragment: panel(key), seeOther: consolePath })
        }
        if (wantsJson(request)) throw key
        const error = capFaultOf({ message: key.message, ...key.detail })
        const view = await viewOf(acting, newDraft(deps), { cap: { cap, error } })
        if (request.headers.get('hx-request') !== 'true') {
          return show({ request, set, acting }, view, key.status)
        }
        set.status = key.status
        const fragment = panel(view.key, view.cap)
        return reply({ request, set }, { fragment, seeOther: consolePath })
      },
      { needsSession: { action: 'runs:write' }, parse: 'none' },
    )
    .post(
      '/api/portal/console/key',
      async ({ request, set, acting }) => {
        const key = await renewKey(deps, acting)
        if (wantsJson(request)) return toConsoleView(deps, key)
        return reply({ request, set }, { fragment: panel(key), seeOther: consolePath })
      },
      { needsSession: { action: 'runs:write' }, parse: 'none' },
    )
}

/** `GET /api/portal/console`; before the first use it has no key and the default cap. */
function toConsoleView(deps: Deps, shown: ShownKey | undefined) {
  const now = deps.clock.now()
  const key = shown ? toKeyView(shown, now) : null
  const limit = toJsonInteger(defaultCap)
  const resets = toRfc3339(windowStart('day', now) + dayMs)
  const unused = { limit_nusd: limit, window: 'day', spent_nusd: 0, held_nusd: 0 }
  return {
    object: 'console' as const,
    models: chatModels(deps).map((model) => toModelView(model)),
    key,
    cap: key?.cap ?? { ...unused, remaining_nusd: limit, resets_at: resets },
  }
}

/** A program that accepts JSON but no event stream gets the completed run. */
const wantsWhole = ({ headers }: Request): boolean => {
  const accept = headers.get('accept') ?? ''
  return accept.includes('application/json') && !accept.includes('text/event-stream')
}

/** The fields of a new page. */
function newDraft(deps: Pick<Deps, 'catalogue'>, wished = '', input = ''): Draft {
  const model = wished || (chatModels(deps)[0]?.id ?? '')
  return { model, input, max_output_tokens: '', temperature: '', system: '', files: [], turns: [] }
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  throw error
}
