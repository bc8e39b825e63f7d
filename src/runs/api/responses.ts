/** The door of OpenAI's Responses API. */
import { Elysia } from 'elysia'
import { keyAuth } from '../../access/keys/needs-key.ts'
import type { Deps } from '../../app/deps-port.ts'
import type { Json } from '../../kernel/canonical.ts'
import { toUnixSeconds } from '../../kernel/clock.ts'
import { objectOf } from '../../kernel/json-object.ts'
import { type Refusal, refuse } from '../../kernel/refusal.ts'
import { onceOf } from '../../ledger/once.ts'
import { NativeEvent } from '../../models/native-event.ts'
import { nativeOf } from '../../models/protocols/native.ts'
import { responsesToChat } from '../../models/protocols/responses/read-request.ts'
import {
  type Paid,
  type ResponseBase,
  responseUsage,
  toWholeResponse,
} from '../../models/protocols/responses/write-answer.ts'
import { ResponseEvents } from '../../models/protocols/responses/write-events.ts'
import type { JsonObject } from '../../models/upstream/upstream.ts'
import { objects } from '../answer.ts'
import { begin } from '../begin.ts'
import type { Completed } from '../complete.ts'
import type { LiveRun } from '../live-run.ts'
import type { Begun } from '../opening.ts'
import type { Streamed } from '../stream.ts'
import { checkSwitches, isToFit } from '../switches.ts'
import { answer, assertSayable, findModelOf, quoteIn, type Running, traceOf } from './asked.ts'
import { answerWhole } from './complete.ts'
import { paidOf } from './paid.ts'
import { type Shape, streamRun } from './stream.ts'
import { readTags } from './tags.ts'
import { eventWriter, once } from './write-events.ts'

const path = '/v1/responses'

export const responsesApi = (deps: Deps) =>
  new Elysia({ name: 'responses-api' })
    .use(keyAuth(deps))
    .post(
      path,
      ({ caller, request, server, set }) =>
        answer(deps, { caller, request, server, set }, path, responses),
      { needsKey: 'runs:write', parse: 'none' },
    )
    .get(
      '/v1/responses/:id',
      () => refuse('not_found', 'Answers are not stored here. Their runs are at GET /v1/runs/:id.'),
      { needsKey: 'runs:read' },
    )

const responses: Running = async (deps, context, received, call) => {
  checkSwitches(received)
  const { body, ignored } = responsesToChat(received)
  const model = findModelOf(deps, 'chat', received)
  const { contextTokens } = model
  const { headers } = context.request
  const native = nativeOf('responses', received, { headers, contextTokens })
  assertSayable(deps, model, body, native)
  const { upstreams } = deps
  const isSpoken = model.route.some(
    ({ upstream }) => upstreams.get(upstream)?.protocol === 'responses',
  )
  const live = await begin(deps, {
    caller: context.caller,
    model,
    body,
    native: isSpoken ? native : undefined,
    ignored,
    received: received as Json,
    fit: isToFit(context.request, received['fit'], context.caller.key),
    limit: 'max_output_tokens',
    background: false,
    tags: readTags(context.request, received['metadata']),
    metadata: {},
    once: call && onceOf<Begun>(deps, call, () => undefined),
    trace: traceOf(context.request),
    quote: quoteIn(context.request),
  })
  const base = baseOf(live, received)
  if (received['stream'] === true) return streamRun(deps, live, context, shapeOf(deps, base))
  const toAnswer = (done: Completed): JsonObject => {
    const paid = paidOf(done, deps.settings)
    if (live.isNative) return withPaid(done.body, paid)
    return toWholeResponse(base, objects(done.body['choices'])[0] ?? {}, paid)
  }
  return answerWhole(deps, context, live, toAnswer)
}

const baseOf = (live: LiveRun, asked: JsonObject): ResponseBase => ({
  id: `resp_${live.id.slice('run_'.length)}`,
  model: live.model.id,
  createdAt: toUnixSeconds(live.row.createdAt),
  asked,
})

function shapeOf(deps: Deps, base: ResponseBase): Shape {
  const events = new ResponseEvents(base)
  const end = (done: Streamed): string => {
    const paid = paidOf(done, deps.settings)
    if (done.events) return done.events.map((event) => withReceipt(event, paid)).join('')
    return done.tail.map((chunk) => events.write(chunk)).join('') + events.end(paid)
  }
  return {
    write: eventWriter((chunk) => events.write(chunk)),
    // Once for a retry with the same Idempotency-Key and for the client: the writer remembers.
    last: once(end),
    toError: once(({ type, message }: Refusal) => events.fail({ code: type, message })),
  }
}

/** The receipt goes into the answer that ends the stream; everything else passes as it came. */
function withReceipt(event: NativeEvent, paid: Paid): string {
  const { response } = event.data
  if (response === undefined) return event.frame
  const data: JsonObject = { ...event.data, response: withPaid(objectOf(response), paid) }
  return new NativeEvent(data, JSON.stringify(data), undefined).frame
}

/** Clients need the usage, also where the server left it out. */
const withPaid = (answer: JsonObject, { usage, counterfoil }: Paid): JsonObject => ({
  ...answer,
  usage: answer['usage'] ?? responseUsage(usage),
  counterfoil,
})
