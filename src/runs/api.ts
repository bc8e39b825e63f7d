import { Elysia } from 'elysia'
import type { Deps } from '../deps.ts'
import { readJson } from '../http/body.ts'
import { checkBody } from '../http/check-body.ts'
import { queryOf, readChoice, readPage, readText } from '../http/query.ts'
import type { SseContext } from '../http/sse.ts'
import type { Json } from '../kernel/canonical.ts'
import { isId } from '../kernel/ids.ts'
import { toJsonInteger } from '../kernel/money.ts'
import { toListView } from '../kernel/page.ts'
import { refuse } from '../kernel/refusal.ts'
import { keyAuth } from '../keys/auth.ts'
import type { Caller } from '../keys/key.ts'
import { assertListed, owns } from '../keys/owns.ts'
import type { ModelKind } from '../models/model.ts'
import { firstListedRun } from '../plans/history.ts'
import type { JsonObject } from '../upstream/upstream.ts'
import { asObject } from './answer.ts'
import { runInBackground } from './background.ts'
import { begin } from './begin.ts'
import { cancelRun } from './cancel.ts'
import { followRun } from './events-api.ts'
import { type Completed, complete } from './execute.ts'
import type { LiveRun } from './live.ts'
import { runBody, toOpenAi } from './native-api.ts'
import {
  chunkBase,
  chunkFrames,
  findModel,
  lastFrames,
  toCompletion,
  toEmbeddings,
  toReceiptLink,
} from './openai.ts'
import { runStatuses, toRunView } from './run.ts'
import { stopWithClient, streamRun } from './stream-api.ts'

type Needs = Pick<
  Deps,
  | 'catalogue'
  | 'clock'
  | 'health'
  | 'ids'
  | 'keys'
  | 'ledger'
  | 'live'
  | 'log'
  | 'plans'
  | 'random'
  | 'runs'
  | 'sequencer'
  | 'settings'
  | 'texts'
  | 'upstreams'
>
type Context = SseContext & { caller: Caller; set: { status?: unknown } }

/** The doors of a run: OpenAI's two, and our own with everything a run has. */
export const runsApi = (deps: Needs) => {
  const writes = { needsKey: 'runs:write', parse: 'none' } as const
  const reads = { needsKey: 'runs:read' } as const
  // Handlers name what they use: given the context whole, Elysia reads headers, cookies and query.
  return new Elysia({ name: 'runs-api' })
    .use(keyAuth(deps))
    .post(
      '/v1/chat/completions',
      ({ caller, request, server, set }) => chat(deps, { caller, request, server, set }),
      writes,
    )
    .post(
      '/v1/embeddings',
      ({ caller, request, server, set }) => embeddings(deps, { caller, request, server, set }),
      writes,
    )
    .post(
      '/v1/runs',
      ({ caller, request, server, set }) => native(deps, { caller, request, server, set }),
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
          since: firstListedRun(caller.plan, deps.clock.now()),
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

async function chat(deps: Needs, context: Context) {
  const { live, body } = await beginOpenAi(deps, context, 'chat')
  if (body['stream'] === true) {
    const base = chunkBase(live)
    const includeUsage = asObject(body['stream_options'])['include_usage'] === true
    return streamRun(deps, live, context, {
      chunks: (chunks) => chunkFrames(base, chunks),
      last: (done) => lastFrames(base, done, deps.settings, includeUsage),
    })
  }
  return toCompletion(live, await completeFor(deps, context, live), deps.settings)
}

async function embeddings(deps: Needs, context: Context) {
  const { live } = await beginOpenAi(deps, context, 'embedding')
  return toEmbeddings(live, await completeFor(deps, context, live), deps.settings)
}

/** Begins what one of OpenAI's routes was asked, if it is the route for this kind of model. */
async function beginOpenAi(deps: Needs, context: Context, kind: ModelKind) {
  const body = await readBody(deps, context)
  const model = findModel(deps, body)
  if (model.kind !== kind) refuse('invalid_request', wrongKind(model.kind))
  const wish = { caller: context.caller, model, body, received: body as Json }
  const live = await begin(deps, { ...wish, background: false, tags: {}, metadata: {} })
  return { live, body }
}

/** The whole answer for a client that waits for it; one that hangs up stops the run. */
async function completeFor(deps: Needs, context: Context, live: LiveRun): Promise<Completed> {
  stopWithClient(live, context.request.signal)
  const done = await complete(deps, live)
  context.set.headers['x-receipt-id'] = done.receiptId
  context.set.headers['x-cost-nusd'] = String(toJsonInteger(done.run.cost))
  return done
}

async function native(deps: Needs, context: Context) {
  const received = await readBody(deps, context)
  const body = checkBody(runBody, received)
  const model = findModel(deps, received)
  const live = await begin(deps, {
    caller: context.caller,
    model,
    body: toOpenAi(model, body),
    received: received as Json,
    background: body.background ?? false,
    tags: body.tags ?? {},
    metadata: (body.metadata ?? {}) as Record<string, Json>,
  })
  if (body.background) {
    void runInBackground(deps, live)
    context.set.status = 202
    return toRunView(live.row)
  }
  if (body.stream) {
    return streamRun(deps, live, context, {
      chunks: (chunks) => chunks.map((chunk) => event('run.output.delta', deltaOf(chunk))).join(''),
      last: (done) => {
        const run = toRunView(done.run, done.choices as Json)
        return event('run.completed', { run, receipt: toReceiptLink(done, deps.settings) })
      },
    })
  }
  const done = await completeFor(deps, context, live)
  const receipt = toReceiptLink(done, deps.settings)
  return { ...toRunView(done.run, done.output), receipt }
}

const routeOf: Record<ModelKind, string> = {
  chat: 'POST /v1/chat/completions',
  embedding: 'POST /v1/embeddings',
}

const wrongKind = (kind: ModelKind) => ({
  param: 'model',
  message: `This model is of another kind. Use it at ${routeOf[kind]}.`,
})

const event = (type: string, fields: object): string =>
  `data: ${JSON.stringify({ type, ...fields })}\n\n`

const deltaOf = (chunk: JsonObject): object => ({ choices: chunk['choices'] ?? [] })

async function readBody(deps: Needs, { request }: Context): Promise<JsonObject> {
  const { value } = await readJson(request, { limitBytes: deps.settings.bodyBytes })
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  refuse('invalid_request', 'The body must be a JSON object.')
}

const find = async ({ runs }: Needs, id: string) => (isId('run', id) ? runs.find(id) : undefined)

/** @throws Refusal `not_found`, the same for a run of others as for none. */
async function findOwn(deps: Needs, caller: Caller, id: string) {
  const run = await find(deps, id)
  if (!run || !(await owns(deps, caller, run))) refuse('not_found', 'There is no such run.')
  return run
}
