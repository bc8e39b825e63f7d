/** The doors of a run: OpenAI's two, and `/v1/runs` with everything that a run has. */
import { Elysia } from 'elysia'
import type { Caller } from '../access/keys/key.ts'
import { keyAuth } from '../access/keys/needs-key.ts'
import { assertListed, owns } from '../access/keys/owns.ts'
import { firstListedRun } from '../access/plan-history.ts'
import type { Deps } from '../app/deps-port.ts'
import type { Json } from '../kernel/canonical.ts'
import { isId } from '../kernel/ids.ts'
import { toListView } from '../kernel/pagination.ts'
import { refuse } from '../kernel/refusal.ts'
import { onceOf } from '../ledger/once.ts'
import type { Bound } from '../models/bound.ts'
import type { ModelKind } from '../models/meter.ts'
import type { JsonObject } from '../models/upstream/upstream.ts'
import { jsonReply } from '../storage/idempotency/api/answer-once.ts'
import type { Call } from '../storage/idempotency/call.ts'
import { checkBody } from '../web/http/check-body.ts'
import { queryOf, readChoice, readPage, readText } from '../web/http/query.ts'
import { asObject } from './answer.ts'
import {
  answer,
  assertSayable,
  findModelOf,
  quoteIn,
  type RunContext,
  type Running,
  traceOf,
} from './api/asked.ts'
import { answerWhole } from './api/complete.ts'
import { followRun } from './api/events.ts'
import { messagesApi } from './api/messages.ts'
import { toOpenAi } from './api/native.ts'
import { responsesApi } from './api/responses.ts'
import { runBody } from './api/run-body.ts'
import { streamRun } from './api/stream.ts'
import { readTags, tagsBeside } from './api/tags.ts'
import { runInBackground } from './background.ts'
import { begin } from './begin.ts'
import { cancelRun } from './cancel.ts'
import { frameWriter } from './chunks.ts'
import {
  chunkBase,
  chunkWriter,
  findModel,
  lastFrames,
  toCompletion,
  toEmbeddings,
  toReceiptLink,
} from './openai.ts'
import type { Begun } from './opening.ts'
import { runStatuses } from './run.ts'
import { toRunView } from './run-view.ts'
import { checkSwitches, isToFit } from './switches.ts'

export const runsApi = (deps: Deps) => {
  const writes = { needsKey: 'runs:write', parse: 'none' } as const
  const reads = { needsKey: 'runs:read' } as const
  // Handlers name what they use: given the context whole, Elysia reads headers, cookies and query.
  return new Elysia({ name: 'runs-api' })
    .use(keyAuth(deps))
    .use(messagesApi(deps))
    .use(responsesApi(deps))
    .post(
      '/v1/chat/completions',
      ({ caller, request, server, set }) =>
        answer(deps, { caller, request, server, set }, '/v1/chat/completions', chat),
      writes,
    )
    .post(
      '/v1/embeddings',
      ({ caller, request, server, set }) =>
        answer(deps, { caller, request, server, set }, '/v1/embeddings', embeddings),
      writes,
    )
    .post(
      '/v1/runs',
      ({ caller, request, server, set }) =>
        answer(deps, { caller, request, server, set }, '/v1/runs', native),
      writes,
    )
    .get(
      '/v1/runs',
      async ({ caller, request }) => {
        const query = queryOf(request)
        const page = readPage(query)
        const filter = {
          status: readChoice(query, 'status', runStatuses),
          model: readText(query, 'model'),
          since: firstListedRun(deps.ids, caller.plan, deps.clock.now()),
        }
        if (page.after !== undefined) await assertListed(deps, caller, find(deps, page.after))
        const keyIds = await deps.keys.subtree(caller.key)
        const { items, hasMore } = await deps.runs.list(keyIds, filter, page)
        return toListView({ items: items.map((run) => toRunView(run)), hasMore })
      },
      reads,
    )
    .get(
      '/v1/runs/:id',
      async ({ caller, params }) => {
        const run = await findOwn(deps, caller, params.id)
        return toRunView(run, run.background && run.output !== null ? run.output : undefined)
      },
      reads,
    )
    .get(
      '/v1/runs/:id/events',
      async ({ caller, params, request, server, set }) => {
        const run = await findOwn(deps, caller, params.id)
        return followRun(deps, { request, server, set }, run)
      },
      reads,
    )
    .post(
      '/v1/runs/:id/cancel',
      async ({ caller, params }) =>
        toRunView(await cancelRun(deps, await findOwn(deps, caller, params.id))),
      writes,
    )
}

const chat: Running = async (deps, context, body, call) => {
  const fit = isToFit(context.request, body['fit'], context.caller.key)
  const live = await beginOpenAi(deps, context, { kind: 'chat', body, fit, call })
  const fitted = fittedOf(live.bound, fit)
  if (body['stream'] === true) {
    const base = chunkBase(live)
    const includeUsage = asObject(body['stream_options'])['include_usage'] === true
    return streamRun(deps, live, context, {
      write: frameWriter(chunkWriter(base)),
      last: (done) => lastFrames(base, done, deps.settings, { includeUsage, more: fitted }),
    })
  }
  return answerWhole(deps, context, live, (done) => ({
    ...toCompletion(live, done, deps.settings),
    ...fitted,
  }))
}

const embeddings: Running = async (deps, context, body, call) => {
  const live = await beginOpenAi(deps, context, { kind: 'embedding', body, fit: false, call })
  return answerWhole(deps, context, live, (done) => toEmbeddings(live, done, deps.settings))
}

type OpenAiAsked = { kind: ModelKind; body: JsonObject; fit: boolean; call: Call | undefined }

/** Begins what one of OpenAI's routes was asked, if it is the route for this kind of model. */
async function beginOpenAi(deps: Deps, context: RunContext, asked: OpenAiAsked) {
  const { kind, body, fit, call } = asked
  const { caller, request } = context
  checkSwitches(body)
  const model = findModelOf(deps, kind, body)
  assertSayable(deps, model, body)
  const wish = { caller, model, body, received: body as Json, fit }
  const once = call && onceOf<Begun>(deps, call, () => undefined)
  const trace = traceOf(request)
  return begin(deps, {
    ...wish,
    background: false,
    tags: readTags(request, body['metadata']),
    metadata: {},
    once,
    trace,
    quote: quoteIn(request),
  })
}

const native: Running = async (deps, context, received, call) => {
  const body = checkBody(runBody, received)
  const model = findModel(deps, received)
  const fit = isToFit(context.request, body.fit, context.caller.key)
  const openAi = toOpenAi(model, body)
  assertSayable(deps, model, openAi)
  const isBackground = body.background === true
  const toView = ({ run, bound }: Begun) => ({ ...toRunView(run), ...fittedOf(bound, fit) })
  // What runs in the background is answered when it begins.
  const begunReply = (begun: Begun) =>
    isBackground ? jsonReply(202, {}, toView(begun)) : undefined
  const live = await begin(deps, {
    caller: context.caller,
    model,
    body: openAi,
    received: received as Json,
    background: isBackground,
    fit,
    limit: 'max_output_tokens',
    tags: tagsBeside(context.request, body.tags),
    metadata: (body.metadata ?? {}) as Record<string, Json>,
    once: call && onceOf(deps, call, begunReply),
    trace: traceOf(context.request),
    quote: quoteIn(context.request),
  })
  if (isBackground) {
    const view = toView({ run: live.row, bound: live.bound })
    void runInBackground(deps, live)
    context.set.status = 202
    return view
  }
  const fitted = fittedOf(live.bound, fit)
  if (body.stream) {
    return streamRun(deps, live, context, {
      write: frameWriter((chunk) => event('run.output.delta', deltaOf(chunk))),
      last: (done) => {
        const run = { ...toRunView(done.run, done.choices as Json), ...fitted }
        return event('run.completed', { run, receipt: toReceiptLink(done, deps.settings) })
      },
    })
  }
  return answerWhole(deps, context, live, (done) => {
    const receipt = toReceiptLink(done, deps.settings)
    return { ...toRunView(done.run, done.output), ...fitted, receipt }
  })
}

/** To whom it was to fit: the most that one choice could say, as it went upstream. */
const fittedOf = ({ maxTokens }: Bound, fit: boolean): { max_output_tokens?: number } =>
  fit && maxTokens > 0 ? { max_output_tokens: maxTokens } : {}

const event = (type: string, fields: object): string =>
  `data: ${JSON.stringify({ type, ...fields })}\n\n`

const deltaOf = (chunk: JsonObject): object => ({ choices: chunk['choices'] ?? [] })

const find = async ({ runs }: Deps, id: string) => (isId('run', id) ? runs.find(id) : undefined)

/** @throws Refusal `not_found`, the same for a run of others as for none. */
async function findOwn(deps: Deps, caller: Caller, id: string) {
  const run = await find(deps, id)
  if (!run || !(await owns(deps, caller, run))) refuse('not_found', 'There is no such run.')
  return run
}
