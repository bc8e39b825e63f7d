/**
 * Envelopes for what a model server wants back with the next turn, so that it passes a door that
 * has no place for it: the signature of a thinking block, or the sealed content of reasoning. Not
 * secret, and nothing that the client could not write itself.
 */
import { hasCanonicalForm, type Json } from '../../kernel/canonical.ts'
import { isObject, type JsonObject, parseJson } from '../../kernel/json-object.ts'
import { objectsIn } from './reading.ts'

const prefix = 'cf1.'

/** Bytes of JSON that one may hold; a seal of reasoning has some kilobytes. */
const mostBytes = 256 * 1024
const mostLevels = 32

export const plainNames = ['reasoning_content', 'reasoning'] as const
/** The names under which servers say reasoning as text. */
export type PlainName = (typeof plainNames)[number]

/** The extra content of a call, by the id of the call. */
export type CallExtra = [id: string, extra: Json]

export type Contents = {
  /** The name that the text beside the envelope had. */
  plain?: PlainName | undefined
  /** `reasoning_details`; a text that stands beside is left out. */
  details?: JsonObject[] | undefined
  /** `extra_content` of the message. */
  extra?: Json | undefined
  calls?: CallExtra[] | undefined
}

/** Whether a signature or a sealed content is one of ours. */
export const isEnvelope = (text: Json | undefined): text is string =>
  typeof text === 'string' && text.startsWith(prefix)

/** Writes an envelope for a turn of this model; without the details where they are too large. */
export function seal(model: string, contents: Contents): string {
  const text = JSON.stringify({ model, ...contents })
  const held = Buffer.byteLength(text) <= mostBytes ? text : small(model, contents)
  return prefix + Buffer.from(held).toString('base64url')
}

const small = (model: string, { plain }: Contents): string => JSON.stringify({ model, plain })

/** Reads an envelope; undefined for what is malformed, or of another model. */
export function unseal(text: string, model: string): Contents | undefined {
  if (text.length > prefix.length + mostBytes * 2) return undefined
  const value = parse(Buffer.from(text.slice(prefix.length), 'base64url').toString())
  if (!isObject(value) || value['model'] !== model || !hasCanonicalForm(value, mostLevels)) {
    return undefined
  }
  const { plain, details, extra, calls } = value
  return {
    plain: plainNames.find((name) => name === plain),
    details: objectsIn(details),
    ...(isObject(extra) ? { extra } : {}),
    calls: Array.isArray(calls) ? calls.filter(isCallExtra) : [],
  }
}

const isCallExtra = (pair: Json): pair is CallExtra =>
  Array.isArray(pair) && typeof pair[0] === 'string' && isObject(pair[1])

function parse(text: string): Json {
  try {
    return parseJson(text)
  } catch {
    return null
  }
}
