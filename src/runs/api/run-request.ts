/** Reads what every door of a run is asked for: the body, the model, the tags, the trace. */
import type { Caller } from '../../access/keys/key.ts'
import type { Deps } from '../../app/deps-port.ts'
import type { Json } from '../../kernel/canonical.ts'
import { isObject } from '../../kernel/json-object.ts'
import { Refusal, refuse, refuseField } from '../../kernel/refusal.ts'
import { readTrace } from '../../kernel/trace.ts'
import { checkChat } from '../../models/chat-content.ts'
import type { ModelKind } from '../../models/meter.ts'
import type { Model, RouteStep } from '../../models/model.ts'
import { type Fault, unsayableTo } from '../../models/protocols/forward.ts'
import { type Native, nativeOf } from '../../models/protocols/native.ts'
import type { Protocol } from '../../models/protocols/protocol.ts'
import type { Translation } from '../../models/protocols/translation.ts'
import { withRoute } from '../../models/step-prices.ts'
import type { JsonObject } from '../../models/upstream/upstream.ts'
import type { Call } from '../../storage/idempotency/call.ts'
import { answerOnce, callOf } from '../../web/http/answer-once.ts'
import { type HeldJson, readHeldJson } from '../../web/http/body.ts'
import type { BodyRoom } from '../../web/http/memory-budget.ts'
import type { SseContext } from '../../web/http/sse.ts'
import { findModel } from '../openai.ts'

export type RunContext = SseContext & {
  caller: Caller
  set: { status?: unknown }
  /** The memory of the body; undefined for a small one. */
  room?: BodyRoom | undefined
}

/** Handles the body of a request at a door. */
export type RunHandler = (
  deps: Deps,
  context: RunContext,
  body: JsonObject,
  call?: Call,
) => Promise<object>

/** Answers a request as its body says, once for each Idempotency-Key. */
export async function answer(deps: Deps, context: RunContext, route: string, run: RunHandler) {
  const { caller, request } = context
  const limits = { limitBytes: deps.settings.bodyBytes }
  const isUnfunded = caller.isEmpty === true && deps.settings.unfundedRuns > 0
  const read = isUnfunded ? readUnfunded(deps, caller, request) : readHeldJson(request, limits)
  const { value, text, room } = await read
  context.room = room
  try {
    const body = asBody(value)
    const call = callOf(deps, { request, who: caller.key.id, route: `POST ${route}`, text })
    // Awaited here: the room of a body is released only once no run needs it.
    return await (call ? answerCall(deps, context, body, { call, run }) : run(deps, context, body))
  } finally {
    if (room?.isHandedOn === false) room.release()
  }
}

/** Reads the body for an account without money in its turn, once it has a place for the run. */
async function readUnfunded(deps: Deps, caller: Caller, request: Request): Promise<HeldJson> {
  const { live, clock, settings } = deps
  live.usedUp.assertLeft(caller, clock.now())
  const leave = live.expectBody(caller, settings.nodes, settings.unfundedRuns)
  try {
    const length = Number(request.headers.get('content-length') ?? settings.bodyBytes)
    await live.pace.take(clock.monotonic(), length)
    return await readHeldJson(request, { limitBytes: settings.bodyBytes })
  } finally {
    leave?.()
  }
}

const answerCall = (
  deps: Deps,
  context: RunContext,
  body: JsonObject,
  { call, run }: { call: Call; run: RunHandler },
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
  refuseField('model', `This model is of another kind. Use it at ${routeOf[model.kind]}.`)
}

/** A request as a door has it; a server of the same protocol gets `native` in its place. */
type ReceivedRequest = { received: JsonObject; headers: Headers; native?: JsonObject }

/** A request in the forms that the steps of its route are sent. */
export type RoutedRequest = {
  /** The model, with the steps that can be asked for it. */
  model: Model
  /** The request in the shape of Chat Completions, if a step needs it. */
  body?: JsonObject | undefined
  /** Members without effect. */
  ignored: readonly string[]
  /** The request as it came, if a step takes it so. */
  native?: Native | undefined
  door: Native['protocol']
}

/**
 * The model with the steps of its route that can be asked for a request of Chat Completions, so
 * that each of them can be tried.
 * @throws Refusal `invalid_request` with `param` if there is none
 */
export function withSayable(deps: Pick<Deps, 'upstreams'>, model: Model, body: JsonObject): Model {
  const route = sayableOf(deps, model, { body, door: 'chat' })
  return route ? withRoute(model, route) : model
}

type Reader = {
  protocol: Native['protocol']
  /** Reads the request in the shape of Chat Completions. */
  translate: (received: JsonObject, model: string) => Translation
}

/**
 * Reads a request of another protocol than Chat Completions. A step that speaks its protocol gets
 * it as it came; for the others it is translated. Steps that it cannot be translated for are left
 * out as long as others remain.
 * @throws Refusal `invalid_request` with `param`
 */
export function routed(
  deps: Pick<Deps, 'upstreams'>,
  model: Model,
  { received, headers, native: own = received }: ReceivedRequest,
  { protocol, translate }: Reader,
): RoutedRequest {
  const spoken = model.route.filter(
    ({ upstream }) => deps.upstreams.get(upstream)?.protocol === protocol,
  )
  const native = spoken.length > 0 ? nativeOf(protocol, own, { headers, model }) : undefined
  if (spoken.length === model.route.length) return { model, native, door: protocol, ignored: [] }
  try {
    const { body, ignored } = translate(received, model.id)
    const route = sayableOf(deps, model, { body, door: protocol })
    if (native) checkChat(model, body)
    const left = route ? withRoute(model, route) : model
    return { model: left, native, door: protocol, body, ignored }
  } catch (error) {
    if (!native || !(error instanceof Refusal)) throw error
    return { model: withRoute(model, spoken), native, door: protocol, ignored: [] }
  }
}

/** The steps that can be asked for a request; undefined for all of them. */
function sayableOf(
  { upstreams }: Pick<Deps, 'upstreams'>,
  { route }: Model,
  { body, door }: { body: JsonObject; door: Protocol },
): RouteStep[] | undefined {
  let fault: Fault | undefined
  let unsayable: Set<RouteStep> | undefined
  for (const step of route) {
    const protocol = upstreams.get(step.upstream)?.protocol
    if (protocol === undefined || protocol === 'chat' || protocol === door) continue
    const found = unsayableTo(protocol, body, door)
    if (!found) continue
    fault ??= found
    unsayable = (unsayable ?? new Set()).add(step)
  }
  if (!fault || !unsayable) return undefined
  if (unsayable.size === route.length) refuse('invalid_request', fault)
  const left = unsayable
  return route.filter((step) => !left.has(step))
}
