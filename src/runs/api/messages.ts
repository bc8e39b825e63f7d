/** The door of Anthropic's Messages API. */
import { Elysia } from 'elysia'
import { apiKeyHeader, keyAuth } from '../../access/keys/needs-key.ts'
import type { Deps } from '../../app/deps-port.ts'
import type { Json } from '../../kernel/canonical.ts'
import { isSet } from '../../kernel/json-object.ts'
import { type Refusal, refuse } from '../../kernel/refusal.ts'
import { onceOf } from '../../ledger/once.ts'
import { NativeEvent, withModel } from '../../models/native-event.ts'
import {
  MessageEvents,
  messageUsage,
  type PaidUsage,
  toMessage,
} from '../../models/protocols/messages/chat-to-answer.ts'
import { messagesToChat } from '../../models/protocols/messages/request-to-chat.ts'
import { messagesError, messagesErrors } from '../../models/protocols/messages/write-error.ts'
import type { JsonObject } from '../../models/upstream/upstream.ts'
import { objects } from '../answer.ts'
import { begin } from '../begin.ts'
import type { CompletedAnswer } from '../complete.ts'
import type { LiveRun } from '../live-run.ts'
import type { OpenedRun } from '../opening.ts'
import type { StreamedAnswer } from '../stream.ts'
import { checkSwitches, isToFit } from '../switches.ts'
import { answerWhole } from './complete.ts'
import { countInput } from './count-input.ts'
import { paidOf } from './paid.ts'
import {
  answer,
  findModelOf,
  quoteIn,
  type RunContext,
  type RunHandler,
  routed,
  traceOf,
} from './run-request.ts'
import { type Shape, streamRun } from './stream.ts'
import { readTags } from './tags.ts'
import { eventWriter, once } from './write-events.ts'

const path = '/v1/messages'

export const messagesApi = (deps: Deps) =>
  new Elysia({ name: 'messages-api' })
    .use(keyAuth(deps))
    .post(
      path,
      ({ caller, request, server, set }) => {
        nameRequest(set)
        return answer(deps, { caller, request, server, set }, path, messages)
      },
      { needsKey: { need: 'runs:write', keyIn: apiKeyHeader }, parse: 'none' },
    )
    .post(
      '/v1/messages/count_tokens',
      ({ caller, request, set }) => {
        nameRequest(set)
        return countInput(deps, { caller, request })
      },
      { needsKey: { need: 'any', keyIn: apiKeyHeader }, parse: 'none' },
    )

/** Anthropic's clients look for the id of a request in a header of another name. */
const nameRequest = ({ headers }: Pick<RunContext['set'], 'headers'>): void => {
  headers['request-id'] = headers['x-request-id'] ?? ''
}

const messages: RunHandler = async (deps, context, received, call) => {
  checkSwitches(received)
  refuseThread(received)
  const { headers } = context.request
  const found = findModelOf(deps, 'chat', received, context.caller)
  const reader = { protocol: 'messages', translate: messagesToChat } as const
  const asked = routed(deps, found, { received, headers }, reader)
  const live = await begin(deps, {
    ...asked,
    caller: context.caller,
    received: received as Json,
    fit: isToFit(context.request, received['fit'], context.caller.key),
    limit: 'max_tokens',
    background: false,
    tags: readTags(context.request, undefined),
    metadata: {},
    once: call && onceOf<OpenedRun>(deps, call, () => undefined),
    trace: traceOf(context.request),
    client: context.request,
    quote: quoteIn(context.request),
  })
  if (received['stream'] === true) return streamRun(deps, live, context, shapeOf(deps, live))
  const toAnswer = (done: CompletedAnswer): JsonObject => {
    const paid = paidOf(done, deps.settings)
    if (live.isNative) {
      const usage = done.body['usage'] ?? messageUsage(paid.usage)
      return { ...withModel(done.body, live.model.id), usage, counterfoil: paid.counterfoil }
    }
    return toMessage(baseOf(live), objects(done.body['choices'])[0] ?? {}, paid)
  }
  return answerWhole(deps, context, live, toAnswer, { errors: messagesErrors })
}

const baseOf = (live: LiveRun) => ({
  id: `msg_${live.id.slice('run_'.length)}`,
  model: live.model.id,
})

function shapeOf(deps: Deps, live: LiveRun): Shape {
  const events = new MessageEvents(baseOf(live))
  const end = (done: StreamedAnswer): string => {
    const paid = paidOf(done, deps.settings)
    if (done.events) return done.events.map((event) => withReceipt(event, paid)).join('')
    return done.tail.map((chunk) => events.write(chunk)).join('') + events.end(paid)
  }
  return {
    write: eventWriter((chunk) => events.write(chunk), live.model.id),
    // Once for a retry with the same Idempotency-Key and for the client: the writer remembers.
    last: once(end),
    toError: errorEvent,
  }
}

/** The receipt goes beside the usage; everything else passes as it came. */
function withReceipt(event: NativeEvent, paid: PaidUsage): string {
  if (event.data['type'] !== 'message_delta') return event.frame
  // Clients need the member, also where the server left it out.
  const { usage = messageUsage(paid.usage) } = event.data
  const data: JsonObject = { ...event.data, usage, counterfoil: paid.counterfoil }
  return new NativeEvent(data, JSON.stringify(data), undefined).frame
}

const errorEvent = (refusal: Refusal, requestId: string): string =>
  `event: error\ndata: ${JSON.stringify(messagesError(refusal, requestId))}\n\n`

/** A client that is told so goes on without a thread, and sends every message again. */
function refuseThread({ thread }: JsonObject): void {
  if (!isSet(thread)) return
  refuse('invalid_request', {
    param: 'thread',
    message: 'Threads are not stored here. Send all messages of the conversation.',
    metadata: { error_code: 'thread_unsupported_request' },
  })
}
