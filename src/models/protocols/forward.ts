/** Makes the request that a model server of a route is sent, in the protocol that it speaks. */
import type { JsonObject } from '../../kernel/json-object.ts'
import { type Bound, forwardBody } from '../bound.ts'
import type { Model, RouteStep } from '../model.ts'
import { type FunctionRequest, withFunctions } from './freeform.ts'
import { chatToMessages, unsayable as toMessagesFault } from './messages/chat-to-request.ts'
import { type Native, nativeRequest } from './native.ts'
import type { Protocol } from './protocol.ts'
import { chatToResponses, unsayable as toResponsesFault } from './responses/chat-to-request.ts'
import type { Translation } from './translation.ts'

/** A request as it came, in the shape of Chat Completions, or in both, as its route needs it. */
export type RouteRequest = {
  model: Model
  body?: JsonObject | undefined
  bound: Bound
  native?: Native | undefined
  /** The protocol that it came in. */
  door: Protocol
  /** Members of what came that its reading in this shape left behind. */
  ignored: readonly string[]
}

export type ForwardedRequest = {
  body: JsonObject
  /** Whether it goes on as it came, and its answer comes back so. */
  isNative: boolean
  /** Members of what came that have no effect there. */
  ignored: readonly string[]
  /** The freeform tools that are functions there. */
  freeform?: ReadonlySet<string> | undefined
}

/** The request of a run for one step of its route. */
export function forward(
  asked: RouteRequest,
  step: RouteStep,
  protocol: Protocol,
): ForwardedRequest {
  const { model, body, bound, native, door } = asked
  const { maxTokens: most, limit: maxTokens = most } = bound
  if (native?.protocol === protocol) {
    return { ...nativeRequest(native, { model: step.model, maxTokens }), isNative: true }
  }
  if (!body) throw new Error(`a request of ${door} was not translated`)
  const unsent: string[] = []
  const chat = forwardBody(model, body, step, maxTokens, unsent)
  const ignored = unsent.length > 0 ? [...asked.ignored, ...unsent] : asked.ignored
  // A client of Chat Completions knows whether its server takes freeform tools.
  const isTaken = protocol === 'responses' || protocol === door
  const { body: plain, freeform, ...named } = isTaken ? taken(chat) : withFunctions(chat)
  const said = translated(protocol, plain, model)
  const left = [...named.ignored, ...(said?.ignored ?? [])]
  return {
    body: said?.body ?? plain,
    isNative: false,
    ignored: left.length === 0 ? ignored : [...ignored, ...left.map((name) => nameAt(door, name))],
    freeform,
  }
}

const taken = (body: JsonObject): FunctionRequest => ({ body, freeform: undefined, ignored: [] })

function translated(
  protocol: Protocol,
  chat: JsonObject,
  { isCached }: Model,
): Translation | undefined {
  if (protocol === 'chat') return undefined
  return protocol === 'messages' ? chatToMessages(chat, isCached) : chatToResponses(chat)
}

/** The name that a door has for the form of an answer. */
const forms = { messages: 'output_config.format', responses: 'text.format' } as const

/** A member of Chat Completions as a door has it. */
function nameAt(door: Protocol, name: string): string {
  if (door === 'chat') return name
  if (door === 'responses' && name === 'reasoning_effort') return 'reasoning.effort'
  if (door === 'responses' && name === 'verbosity') return 'text.verbosity'
  return name.replace(/^response_format(\.json_schema)?/, forms[door])
}

export type Fault = { param: string; message: string }

/** The part of a request that a server of this protocol cannot be asked; undefined when none. */
export function unsayableTo(
  protocol: Protocol,
  body: JsonObject,
  door: Protocol = 'chat',
): Fault | undefined {
  if (protocol === 'chat') return undefined
  const fault = protocol === 'messages' ? toMessagesFault(body) : toResponsesFault(body)
  if (door !== 'messages' || fault?.param !== 'stop') return fault
  const param = 'stop_sequences'
  return { param, message: fault.message.replace('"stop"', `"${param}"`) }
}
