/** Joins `reasoning_details`, which servers stream in pieces and clients send back as a list. */
import type { Json } from '../../kernel/canonical.ts'
import { isObject, isSet, type JsonObject } from '../../kernel/json-object.ts'
import { sealedFormat } from '../free-members.ts'
import { objectsIn, textOf } from './reading.ts'

/** The members of details that come in pieces. */
const pieced = ['text', 'summary', 'data'] as const

/** Formats of details: whose server can read their seals. */
export const formats = {
  messages: 'anthropic-claude-v1',
  responses: sealedFormat,
} as const

/** Adds a piece to the details it belongs to, or as one of its own. */
export function addDetail(details: JsonObject[], piece: JsonObject): void {
  const last = details.at(-1)
  if (!last || !goesOn(last, piece)) {
    details.push({ ...piece })
    return
  }
  for (const name in piece) {
    const value = piece[name] ?? null
    const before = last[name]
    const isText = typeof value === 'string' && typeof before === 'string'
    if (isText && pieced.some((one) => one === name)) last[name] = before + value
    else if (isSet(value)) last[name] = value
  }
}

/** A signature ends a text; what is sealed comes whole, unless its index says otherwise. */
function goesOn(last: JsonObject, piece: JsonObject): boolean {
  const isSame = (name: string): boolean => (last[name] ?? null) === (piece[name] ?? null)
  if (!isSame('type') || !isSame('index')) return false
  if (isSet(last['id']) && isSet(piece['id']) && !isSame('id')) return false
  return last['type'] === 'reasoning.encrypted'
    ? isSet(piece['index'])
    : textOf(last['signature']) === ''
}

/** The details of a message, whole. */
export function detailsOf(message: JsonObject): JsonObject[] {
  const details: JsonObject[] = []
  for (const piece of objectsIn(message['reasoning_details'])) addDetail(details, piece)
  return details
}

/** The words of a detail. */
export const wordsOfDetail = (detail: Json): string =>
  isObject(detail) ? textOf(detail['text']) || textOf(detail['summary']) : ''

/** Whether a server of this protocol can read the seal of a detail. */
export function isFor(protocol: keyof typeof formats, { format }: JsonObject): boolean {
  // Without a format it is Anthropic's, as servers wrote it before there were formats.
  const named = textOf(format)
  return named === '' ? protocol === 'messages' : named === formats[protocol]
}
