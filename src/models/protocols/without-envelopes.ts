/**
 * Leaves envelopes of ours out of a request that goes on as it came: no server but the one whose
 * reasoning they hold knows them, and one that reads them as its own refuses the request.
 */
import type { Json } from '../../kernel/canonical.ts'
import { isObject, type JsonObject } from '../../kernel/json-object.ts'
import { isEnvelope } from './envelope.ts'

const isOurs = (block: Json): boolean =>
  isObject(block) && (isEnvelope(block['signature']) || isEnvelope(block['encrypted_content']))

const hasOurs = (message: Json): message is JsonObject =>
  isObject(message) && Array.isArray(message['content']) && message['content'].some(isOurs)

/** Items of Responses without envelopes; undefined if there are none. */
export function itemsWithout(input: Json | undefined): Json[] | undefined {
  if (!Array.isArray(input) || !input.some(isOurs)) return undefined
  return input.filter((item) => !isOurs(item))
}

/** Messages without envelopes, and without those that held nothing else; undefined if none has. */
export function messagesWithout(messages: Json | undefined): Json[] | undefined {
  if (!Array.isArray(messages) || !messages.some(hasOurs)) return undefined
  return messages.flatMap((message) => {
    if (!hasOurs(message) || !Array.isArray(message['content'])) return [message]
    const content = message['content'].filter((block) => !isOurs(block))
    return content.length > 0 ? [{ ...message, content }] : []
  })
}
