/** How each protocol of model servers is spoken: paths, credentials, requests, answers, events. */
import type { Json } from '../../kernel/canonical.ts'
import { isObject, type JsonObject } from '../../kernel/json-object.ts'
import type { ModelKind } from '../meter.ts'
import { ChunkReader } from '../protocols/chat/read-chunks.ts'
import { isWhole, joinChunks, repairWhole } from '../protocols/chat/whole.ts'
import type { EventReader } from '../protocols/event-reader.ts'
import {
  messageEnds,
  NativeReader,
  responseEnds,
  TranslatingReader,
} from '../protocols/event-readers.ts'
import { MessageReader, messageToChat } from '../protocols/messages/answer-to-chat.ts'
import { MessageRepair } from '../protocols/messages/repair-events.ts'
import { joinMessage, repairMessage } from '../protocols/messages/whole.ts'
import type { Protocol } from '../protocols/protocol.ts'
import type { NewItemId } from '../protocols/repaired.ts'
import { ResponseReader, responseToChat } from '../protocols/responses/answer-to-chat.ts'
import { ResponseRepair } from '../protocols/responses/repair-events.ts'
import { joinResponse, repairResponse } from '../protocols/responses/whole.ts'

/** Rules for repairing the answers of one request. */
export type RepairRules = {
  newId: NewItemId
  /** Whether functions were asked for as they were before there were tools. */
  hasFunctions: boolean
  /** Takes a finish reason that is not known. */
  onUnknown?: ((word: string) => void) | undefined
}

/** A whole answer as its protocol has it, or what tells of a failure in its place. */
export type RepairedAnswer = JsonObject | { failure: JsonObject } | undefined

export type WireProtocol = {
  protocol: Protocol
  /** Below the base URL; undefined where it has no models of that kind. */
  paths: { [Kind in ModelKind]: string | undefined }
  /** The path of its count of a request's input; undefined where it has none. */
  counting?: string
  /** How it takes a key unless the operator says otherwise. */
  auth: 'bearer' | 'x-api-key'
  headers: Readonly<Record<string, string>>
  /** The members that ask for a stream. */
  streaming: JsonObject
  /** A whole answer of its own as it has to be; undefined for anything else. */
  repair(kind: ModelKind, answer: JsonObject, repairing: () => RepairRules): RepairedAnswer
  /** A repaired answer in the shape of Chat Completions. */
  toChat(answer: JsonObject): JsonObject | undefined
  /** The whole answer that native events come to. */
  join(events: readonly JsonObject[]): JsonObject
  /** Reads events in the shape of Chat Completions. */
  reader(repairing: RepairRules): EventReader
  /** Reads events as they are. */
  nativeReader(repairing: RepairRules): EventReader
}

const chat: WireProtocol = {
  protocol: 'chat',
  paths: { chat: 'chat/completions', embedding: 'embeddings' },
  auth: 'bearer',
  headers: {},
  streaming: { stream: true, stream_options: { include_usage: true } },
  repair(kind, answer, repairing) {
    if (kind === 'chat' && isWhole(answer)) return answer
    if (kind === 'chat') return repairWhole(answer, chunkRules(repairing()))
    return isAnswer(kind, answer) ? answer : undefined
  },
  toChat: (answer) => answer,
  join: joinChunks,
  reader: (repairing) => new ChunkReader(chunkRules(repairing)),
  nativeReader: (repairing) => new ChunkReader(chunkRules(repairing)),
}

const messages: WireProtocol = {
  protocol: 'messages',
  paths: { chat: 'messages', embedding: undefined },
  counting: 'messages/count_tokens',
  auth: 'x-api-key',
  headers: { 'anthropic-version': '2023-06-01' },
  streaming: { stream: true },
  repair: (_, answer, repairing) => repairMessage(answer, repairing().newId),
  toChat: messageToChat,
  join: joinMessage,
  reader: (repairing) =>
    new TranslatingReader(
      new MessageRepair(repairing.newId),
      new MessageReader(),
      new ChunkReader(chunkRules(repairing)),
    ),
  nativeReader: ({ newId }) =>
    new NativeReader(new MessageRepair(newId), new MessageReader(), messageEnds),
}

const responses: WireProtocol = {
  protocol: 'responses',
  paths: { chat: 'responses', embedding: undefined },
  auth: 'bearer',
  headers: {},
  streaming: { stream: true },
  repair: (_, answer, repairing) => repairResponse(answer, repairing().newId),
  toChat: responseToChat,
  join: joinResponse,
  reader: (repairing) =>
    new TranslatingReader(
      new ResponseRepair(repairing.newId),
      new ResponseReader(),
      new ChunkReader(chunkRules(repairing)),
    ),
  nativeReader: ({ newId }) =>
    new NativeReader(new ResponseRepair(newId), new ResponseReader(), responseEnds),
}

const chunkRules = ({ newId, hasFunctions, onUnknown }: RepairRules) => ({
  newId: () => newId('call'),
  hasFunctions,
  onUnknown,
})

/** The protocols by the `kind` of an upstream in the configuration. */
export const wireProtocols = { openai: chat, anthropic: messages, responses } as const

export type UpstreamKind = keyof typeof wireProtocols

/** Whether JSON is an answer in the shape of Chat Completions or of embeddings. */
function isAnswer(kind: ModelKind, body: JsonObject): boolean {
  if (kind === 'chat') return isListOf(body['choices'], (item) => isObject(item['message']))
  return isListOf(body['data'], ({ embedding }) => {
    return Array.isArray(embedding) || typeof embedding === 'string'
  })
}

function isListOf(list: Json | undefined, fits: (item: JsonObject) => boolean): boolean {
  return (
    Array.isArray(list) && list.length > 0 && list.every((item) => isObject(item) && fits(item))
  )
}
