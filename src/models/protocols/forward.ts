/** What a model server of a route is sent, in the protocol that it speaks. */
import type { JsonObject } from '../../kernel/json-object.ts'
import { type Bound, forwardBody } from '../bound.ts'
import type { Model, RouteStep } from '../model.ts'
import { chatToMessages, unsayable as toMessagesFault } from './messages/write-request.ts'
import { type Native, nativeRequest } from './native.ts'
import type { Protocol } from './protocol.ts'
import { chatToResponses, unsayable as toResponsesFault } from './responses/write-request.ts'

/** A request in the shape of Chat Completions, and as it came if that was another one. */
export type Asked = {
  model: Model
  body: JsonObject
  bound: Bound
  native?: Native | undefined
  /** Members of what came that its reading in this shape left behind. */
  ignored: readonly string[]
}

export type Forwarded = {
  body: JsonObject
  /** Whether it goes on as it came, and its answer comes back so. */
  isNative: boolean
  /** Members of what came that have no effect there. */
  ignored: readonly string[]
}

/** The request of a run for one step of its route. */
export function forward(asked: Asked, step: RouteStep, protocol: Protocol): Forwarded {
  const { model, body, bound, native } = asked
  const { maxTokens } = bound
  if (native?.protocol === protocol) {
    const to = { model: step.model, maxTokens, pass: model.pass ?? [] }
    return { ...nativeRequest(native, to), isNative: true }
  }
  const chat = forwardBody(model, body, step, maxTokens)
  if (protocol === 'chat') return { body: chat, isNative: false, ignored: asked.ignored }
  const said = protocol === 'messages' ? chatToMessages(chat) : chatToResponses(chat)
  return { body: said.body, isNative: false, ignored: [...asked.ignored, ...said.ignored] }
}

/** What a server of this protocol cannot be asked; undefined when nothing. */
export function unsayableTo(
  protocol: Protocol,
  body: JsonObject,
): { param: string; message: string } | undefined {
  if (protocol === 'chat') return undefined
  return protocol === 'messages' ? toMessagesFault(body) : toResponsesFault(body)
}
