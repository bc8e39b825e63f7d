/** Reads what every door of a run is asked for: the body, the model, the tags, the trace. */
import type { Caller } from '../../access/keys/key.ts'
import type { Deps } from '../../app/deps-port.ts'
import type { Json } from '../../kernel/canonical.ts'
import { isObject } from '../../kernel/json-object.ts'
import { refuse } from '../../kernel/refusal.ts'
import { readTrace } from '../../kernel/trace.ts'
import type { ModelKind } from '../../models/meter.ts'
import type { Model } from '../../models/model.ts'
import { unsayableTo } from '../../models/protocols/forward.ts'
import type { Native } from '../../models/protocols/native.ts'
import type { JsonObject } from '../../models/upstream/upstream.ts'
import { answerOnce, callOf } from '../../storage/idempotency/api/answer-once.ts'
import type { Call } from '../../storage/idempotency/call.ts'
import { readJson } from '../../web/http/body.ts'
import type { SseContext } from '../../web/http/sse.ts'
import { findModel } from '../openai.ts'

export type RunContext = SseContext & { caller: Caller; set: { status?: unknown } }

/** What a door does with the body of a request. */
export type Running = (
  deps: Deps,
  context: RunContext,
  body: JsonObject,
  call?: Call,
) => Promise<object>

/** Answers a request as its body says, once for each Idempotency-Key. */
export async function answer(deps: Deps, context: RunContext, route: string, run: Running) {
  const { caller, request } = context
  const { value, text } = await readJson(request, { limitBytes: deps.settings.bodyBytes })
  const body = asBody(value)
  const call = callOf(deps, { request, who: caller.key.id, route: `POST ${route}`, text })
  return call ? answerCall(deps, context, body, { call, run }) : run(deps, context, body)
}

const answerCall = (
  deps: Deps,
  context: RunContext,
  body: JsonObject,
  { call, run }: { call: Call; run: Running },
) => answerOnce(deps, context, call, () => run(deps, context, body, call))

/** @throws Refusal `invalid_request` for a body that is not an object */
export function asBody(value: Json): JsonObject {
  if (isObject(value)) return value
  refuse('invalid_request', 'The body must be a JSON object.')
}

export const traceOf = ({ headers }: Request) =>
  readTrace(headers.get('traceparent'), headers.get('tracestate'))

/** The id of the quote that a run is to be charged by. */
export const quoteIn = ({ headers }: Request): string | undefined =>
  headers.get('x-counterfoil-quote')?.trim() ?? undefined

const routeOf: Record<ModelKind, string> = {
  chat: 'POST /v1/chat/completions',
  embedding: 'POST /v1/embeddings',
}

/** The model that a request of a caller names, of this kind. @throws Refusal */
export function findModelOf(
  deps: Deps,
  kind: ModelKind,
  body: JsonObject,
  { chain }: Pick<Caller, 'chain'>,
): Model {
  const model = findModel(deps, body, chain)
  if (model.kind === kind) return model
  const message = `This model is of another kind. Use it at ${routeOf[model.kind]}.`
  refuse('invalid_request', { param: 'model', message })
}

/**
 * Refuses what a server of the model's route cannot be asked, so that each step can be tried.
 * @throws Refusal `invalid_request` with `param`
 */
export function assertSayable(
  { upstreams }: Pick<Deps, 'upstreams'>,
  { route }: Model,
  body: JsonObject,
  native?: Native,
): void {
  for (const { upstream } of route) {
    const protocol = upstreams.get(upstream)?.protocol
    if (protocol === undefined || protocol === 'chat' || protocol === native?.protocol) continue
    const fault = unsayableTo(protocol, body, native?.protocol)
    if (fault) refuse('invalid_request', fault)
  }
}
