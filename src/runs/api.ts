/** The doors of Chat Completions and embeddings; those of `api/` and of other protocols join. */
import { Elysia } from 'elysia'
import { keyAuth } from '../access/keys/needs-key.ts'
import type { Deps } from '../app/deps-port.ts'
import type { Json } from '../kernel/canonical.ts'
import { objectOf } from '../kernel/json-object.ts'
import { onceOf } from '../ledger/once.ts'
import type { ModelKind } from '../models/meter.ts'
import type { JsonObject } from '../models/upstream/upstream.ts'
import type { Call } from '../storage/idempotency/call.ts'
import { errorFrame } from '../web/http/sse.ts'
import { answerWhole, fittedOf } from './api/complete.ts'
import { messagesApi } from './api/messages.ts'
import { responsesApi } from './api/responses.ts'
import {
  answer,
  findModelOf,
  quoteIn,
  type RunContext,
  type RunHandler,
  traceOf,
  withSayable,
} from './api/run-request.ts'
import { nativeRunsApi } from './api/runs.ts'
import { streamRun } from './api/stream.ts'
import { readTags } from './api/tags.ts'
import { begin } from './begin.ts'
import { frameWriter } from './chunks.ts'
import type { LiveRun } from './live-run.ts'
import {
  chunkBase,
  chunkWriter,
  doneFrame,
  failsIn,
  lastFrames,
  toCompletion,
  toEmbeddings,
} from './openai.ts'
import type { OpenedRun } from './opening.ts'
import { checkSwitches, isToFit } from './switches.ts'
import { assertServed } from './unserved.ts'

export const runsApi = (deps: Deps) => {
  const writes = { needsKey: 'runs:write', parse: 'none' } as const
  // Handlers name what they use: given the context whole, Elysia reads headers, cookies and query.
  return new Elysia({ name: 'runs-api' })
    .use(keyAuth(deps))
    .use(messagesApi(deps))
    .use(responsesApi(deps))
    .use(nativeRunsApi(deps))
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
}

const chat: RunHandler = async (deps, context, body, call) => {
  const fit = isToFit(context.request, body['fit'], context.caller.key)
  const live = await beginOpenAi(deps, context, { kind: 'chat', body, fit, call })
  const fitted = fittedOf(live.bound, fit)
  if (body['stream'] === true) {
    const base = chunkBase(live)
    const includeUsage = objectOf(body['stream_options'])['include_usage'] === true
    const write = chunkWriter(base)
    let hasFailed = false
    return streamRun(deps, live, context, {
      write: frameWriter((chunk) => {
        hasFailed ||= failsIn(chunk)
        return write(chunk)
      }),
      last: (done) => lastFrames(base, done, deps.settings, { includeUsage, more: fitted }),
      // The finish reason said it already, in the word of the server.
      toError: (refusal, requestId) => (hasFailed ? doneFrame : errorFrame(refusal, requestId)),
    })
  }
  return answerWhole(deps, context, live, (done) => ({
    ...toCompletion(live, done, deps.settings),
    ...fitted,
  }))
}

const embeddings: RunHandler = async (deps, context, body, call) => {
  const live = await beginOpenAi(deps, context, { kind: 'embedding', body, fit: false, call })
  return answerWhole(deps, context, live, (done) => toEmbeddings(live, done, deps.settings))
}

type OpenAiRequest = { kind: ModelKind; body: JsonObject; fit: boolean; call: Call | undefined }

/** Begins what one of OpenAI's routes was asked, if it is the route for this kind of model. */
function beginOpenAi(deps: Deps, context: RunContext, asked: OpenAiRequest): Promise<LiveRun> {
  const { kind, body, fit, call } = asked
  const { caller, request } = context
  checkSwitches(body)
  const found = findModelOf(deps, kind, body, caller)
  if (kind === 'chat') assertServed(found, body)
  const model = withSayable(deps, found, body)
  return begin(deps, {
    caller,
    model,
    body,
    received: body as Json,
    fit,
    background: false,
    tags: readTags(request, body['metadata']),
    metadata: {},
    once: call && onceOf<OpenedRun>(deps, call, () => undefined),
    trace: traceOf(request),
    client: request,
    quote: quoteIn(request),
  })
}
