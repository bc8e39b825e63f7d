/** The door of OpenAI's Responses API. */
import { Elysia } from 'elysia'
import { keyAuth } from '../../access/keys/needs-key.ts'
import type { Deps } from '../../app/deps-port.ts'
import type { Json } from '../../kernel/canonical.ts'
import { toUnixSeconds } from '../../kernel/clock.ts'
import { isSet, objectOf } from '../../kernel/json-object.ts'
import { type Refusal, refuse } from '../../kernel/refusal.ts'
import { onceOf } from '../../ledger/once.ts'
import { NativeEvent, withModel } from '../../models/native-event.ts'
import { textOf } from '../../models/protocols/reading.ts'
import {
  type PaidUsage,
  type ResponseBase,
  responseUsage,
  toWholeResponse,
} from '../../models/protocols/responses/chat-to-answer.ts'
import { responsesToChat } from '../../models/protocols/responses/request-to-chat.ts'
import { ResponseEvents } from '../../models/protocols/responses/write-events.ts'
import type { Chunk, JsonObject } from '../../models/upstream/upstream.ts'
import { objects } from '../answer.ts'
import { begin } from '../begin.ts'
import type { CompletedAnswer } from '../complete.ts'
import type { LiveRun } from '../live-run.ts'
import type { OpenedRun } from '../opening.ts'
import type { StreamedAnswer } from '../stream.ts'
import { checkSwitches, isToFit } from '../switches.ts'
import { expandItems } from '../turns/expand-items.ts'
import { isToKeep } from '../turns/is-to-keep.ts'
import { KeptTurn, withSealedReasoning } from '../turns/kept-turn.ts'
import { answerWhole } from './complete.ts'
import { paidOf } from './paid.ts'
import { answer, findModelOf, quoteIn, type RunHandler, routed, traceOf } from './run-request.ts'
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
      () =>
        refuse(
          'not_found',
          'Answers cannot be read again here. Their runs are at GET /v1/runs/:id.',
        ),
      { needsKey: 'runs:read' },
    )

const responses: RunHandler = async (deps, context, received, call) => {
  checkSwitches(received)
  const { caller } = context
  const { headers } = context.request
  const found = findModelOf(deps, 'chat', received, caller)
  const isKept = await isToKeep(deps, caller.account, received['store'])
  const asked = await expandItems(deps, caller, received)
  const whole = isKept ? withSealedReasoning(found, asked.body) : asked.body
  const request = routed(
    deps,
    found,
    { received: asked.body, headers, native: whole },
    { protocol: 'responses', translate: responsesToChat },
  )
  const live = await begin(deps, {
    ...request,
    caller,
    // As it came: what it names is not in its receipt.
    received: received as Json,
    fit: isToFit(context.request, received['fit'], caller.key),
    limit: 'max_output_tokens',
    background: false,
    tags: readTags(context.request, received['metadata']),
    metadata: {},
    once: call && onceOf<OpenedRun>(deps, call, () => undefined),
    trace: traceOf(context.request),
    client: context.request,
    quote: quoteIn(context.request),
  })
  const turn = isKept ? new KeptTurn(deps, { caller, runId: live.id, asked }) : undefined
  const base = baseOf(live, received, turn)
  if (received['stream'] === true) return streamRun(deps, live, context, shapeOf(deps, base, turn))
  const toAnswer = once((done: CompletedAnswer): JsonObject => {
    const { usage, counterfoil } = paidOf(done, deps.settings)
    if (live.isNative) {
      const names = namesOf(base, turn, done)
      return { ...withPaid(withModel(done.body, base.model), { usage, counterfoil }), ...names }
    }
    return toWholeResponse(base, objects(done.body['choices'])[0] ?? {}, { usage, counterfoil })
  })
  return answerWhole(deps, context, live, toAnswer, { items: itemsOf(turn, toAnswer) })
}

/** The kept items of an answer, which is written before. */
const itemsOf = <Done>(turn: KeptTurn | undefined, write: (done: Done) => unknown) =>
  turn &&
  ((done: Done) => {
    write(done)
    return turn.rows
  })

const baseOf = (live: LiveRun, asked: JsonObject, turn?: KeptTurn): ResponseBase => {
  const id = `resp_${live.id.slice('run_'.length)}`
  return {
    id,
    model: live.model.id,
    createdAt: toUnixSeconds(live.row.createdAt),
    // Told again in the answer, all but the input, which may be large.
    asked: { ...asked, input: null },
    stores: turn && ((output) => output === undefined || turn.take(id, output)),
  }
}

/** Tells the turns around an answer that goes on as it came. */
function namesOf(
  { asked }: ResponseBase,
  turn: KeptTurn | undefined,
  { output, body }: { output: Json; body: JsonObject },
): JsonObject {
  const isKept = turn?.take(textOf(body['id']), objects(output)) === true
  const { previous_response_id: previous } = asked
  return {
    ...(isSet(previous) ? { previous_response_id: previous } : {}),
    // The server that answered was asked to store nothing.
    ...(isKept || body['store'] === true ? { store: isKept } : {}),
  }
}

function shapeOf(deps: Deps, base: ResponseBase, turn: KeptTurn | undefined): Shape {
  const events = new ResponseEvents(base)
  const end = (done: StreamedAnswer): string => {
    const { usage, counterfoil } = paidOf(done, deps.settings)
    const { output } = done
    if (!done.events) {
      const tail = done.tail.map((chunk) => events.write(chunk)).join('')
      return tail + events.end({ usage, counterfoil })
    }
    const more = (body: JsonObject) => ({
      ...withPaid(body, { usage, counterfoil }),
      ...namesOf(base, turn, { output, body }),
    })
    return done.events.map((event) => withEnd(event, base.model, more)).join('')
  }
  // Once for a retry with the same Idempotency-Key and for the client: the writer remembers.
  const last = once(end)
  const write = eventWriter((chunk) => events.write(chunk), base.model)
  return {
    write: turn ? (chunks) => write(chunks.some(isUnkept) ? chunks.map(toKept) : chunks) : write,
    last,
    items: itemsOf(turn, last),
    toError: once(({ type, message }: Refusal) => events.fail({ code: type, message })),
  }
}

/** Whether an event says that nothing is kept, as a server does that was asked to store nothing. */
const isUnkept = (chunk: Chunk): chunk is NativeEvent =>
  chunk instanceof NativeEvent && objectOf(chunk.data['response'])['store'] === false

/** The beginning of an answer that is kept here says so, as its end does. */
function toKept(chunk: Chunk): Chunk {
  if (!isUnkept(chunk)) return chunk
  const response = { ...objectOf(chunk.data['response']), store: true }
  const data: JsonObject = { ...chunk.data, response }
  return new NativeEvent(data, JSON.stringify(data), chunk.chunk)
}

/** The receipt goes into the answer that ends the stream; everything else passes as it came. */
function withEnd(
  event: NativeEvent,
  model: string,
  more: (response: JsonObject) => JsonObject,
): string {
  const { response } = event.data
  if (response === undefined) return event.frame
  const whole = withModel(objectOf(response), model)
  const data: JsonObject = { ...event.data, response: more(whole) }
  return new NativeEvent(data, JSON.stringify(data), undefined).frame
}

/** Clients need the usage, also where the server left it out. */
const withPaid = (answer: JsonObject, { usage, counterfoil }: PaidUsage): JsonObject => ({
  ...answer,
  usage: answer['usage'] ?? responseUsage(usage),
  counterfoil,
})
