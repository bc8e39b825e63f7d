/** How each protocol of model servers is spoken: paths, credentials, requests, answers, events. */
import type { JsonObject } from '../../kernel/json-object.ts'
import type { ModelKind } from '../meter.ts'
import { NativeEvent } from '../native-event.ts'
import { MessageReader, messageToChat } from '../protocols/messages/read-answer.ts'
import type { Protocol } from '../protocols/protocol.ts'
import { ResponseReader, responseToChat } from '../protocols/responses/read-answer.ts'
import { isAnswer } from './is-answer.ts'
import type { Chunk } from './upstream.ts'

/** What an event of a stream comes to. */
export type ReadEvent = { chunk?: Chunk; isEnd?: boolean; isError?: boolean }

/** Reads the events of one stream, in order. */
export type EventReader = { read(event: JsonObject, text: string): ReadEvent }

export type WireProtocol = {
  protocol: Protocol
  /** Below the base URL; undefined where it has no models of that kind. */
  paths: { [Kind in ModelKind]: string | undefined }
  /** Where it counts what a request would read; undefined where it does not. */
  counting?: string
  /** How it takes a key unless the operator says otherwise. */
  auth: 'bearer' | 'x-api-key'
  headers: Readonly<Record<string, string>>
  /** What asks for a stream. */
  streaming: JsonObject
  /** A whole answer in the shape of Chat Completions; undefined for what is none. */
  toChat(kind: ModelKind, answer: JsonObject): JsonObject | undefined
  /** Whether a whole answer of its own is one. */
  isWhole(answer: JsonObject): boolean
  /** Reads events in the shape of Chat Completions; undefined where they have it already. */
  reader?: () => EventReader
  /** Reads events as they are. */
  nativeReader?: () => EventReader
}

const chat: WireProtocol = {
  protocol: 'chat',
  paths: { chat: 'chat/completions', embedding: 'embeddings' },
  auth: 'bearer',
  headers: {},
  streaming: { stream: true, stream_options: { include_usage: true } },
  toChat: (kind, answer) => (isAnswer(kind, answer) ? answer : undefined),
  isWhole: (answer) => isAnswer('chat', answer),
}

const messages: WireProtocol = {
  protocol: 'messages',
  paths: { chat: 'messages', embedding: undefined },
  counting: 'messages/count_tokens',
  auth: 'x-api-key',
  headers: { 'anthropic-version': '2023-06-01' },
  streaming: { stream: true },
  toChat: (_, answer) => messageToChat(answer),
  isWhole: (answer) => messageToChat(answer) !== undefined,
  reader: () => new MessageReader(),
  nativeReader: () => nativeReader(new MessageReader(), (type) => type === 'message_stop'),
}

const responses: WireProtocol = {
  protocol: 'responses',
  paths: { chat: 'responses', embedding: undefined },
  auth: 'bearer',
  headers: {},
  streaming: { stream: true },
  toChat: (_, answer) => responseToChat(answer),
  isWhole: (answer) => responseToChat(answer) !== undefined,
  reader: () => new ResponseReader(),
  nativeReader: () =>
    nativeReader(
      new ResponseReader(),
      (type) => type === 'response.completed' || type === 'response.incomplete',
    ),
}

/** By the `kind` of an upstream in the configuration. */
export const wireProtocols = { openai: chat, anthropic: messages, responses } as const

export type UpstreamKind = keyof typeof wireProtocols

const failures = new Set(['error', 'response.failed'])

type Translator = { read(event: JsonObject): { chunk?: JsonObject } }

const nativeReader = (translator: Translator, isLast: (type: unknown) => boolean): EventReader => ({
  read(event, text) {
    const { type } = event
    if (typeof type === 'string' && failures.has(type)) return { isError: true }
    const { chunk } = translator.read(event)
    return { chunk: new NativeEvent(event, text, chunk), isEnd: isLast(type) }
  },
})
