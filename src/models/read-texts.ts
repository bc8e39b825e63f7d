/** The most tokens of a request that a model with a tokenizer can read. */
import type { Json } from '../kernel/canonical.ts'
import { isObject, type JsonObject } from '../kernel/json-object.ts'
import type { Tokenizer } from './tokenizers/tokenizer.ts'

/** Bytes of text that are counted exactly. */
const countedBytes = 256 * 1024

/** The characters of a member beside its name and value: quotes, colon, comma, a line. */
const aroundMember = 4

type TextMeasure = {
  tokenizer: Tokenizer
  /** The bytes of a token of text beyond what is counted. */
  bytesPerToken: number
  /** The bytes of a token where usage is counted. */
  likelyBytesPerToken: number
}

/** `most`: what no template exceeds, for a hold. `likely`: the tokens of the texts alone. */
export type TokenRange = { most: number; likely: number }

/** Texts that are counted one by one; a request with more is made to take long. */
const countedTexts = 4096

/**
 * Counts what a model reads: the texts of messages as they stand, their other members with
 * room for punctuation, and everything beside them as indented JSON, the longest form in which
 * templates write tools and formats.
 */
export function countRead(
  content: JsonObject,
  { tokenizer, bytesPerToken, likelyBytesPerToken }: TextMeasure,
): TokenRange {
  const work = { squares: 0 }
  let left = countedBytes
  let texts = 0
  let likely = 0
  const text = (written: string): number => {
    const isCounted = left > 0 && texts++ < countedTexts
    const exact = !isCounted ? '' : written.length <= left ? written : written.slice(0, left)
    const bytes = Buffer.byteLength(exact)
    const rest = Buffer.byteLength(written) - bytes
    left = Math.max(0, left - bytes)
    const counted = exact === '' ? 0 : tokenizer.count(exact, work)
    likely += counted + Math.ceil(rest / likelyBytesPerToken)
    return counted + Math.ceil(rest / bytesPerToken)
  }
  const value = (any: Json): number => {
    if (typeof any === 'string') return text(any)
    if (Array.isArray(any)) {
      return any.reduce<number>((sum, item) => sum + aroundMember + value(item), aroundMember)
    }
    if (!isObject(any)) return String(any).length
    return members(any) + aroundMember
  }
  const members = (of: JsonObject): number => {
    let tokens = 0
    for (const name in of) tokens += text(name) + aroundMember + value(of[name] ?? null)
    return tokens
  }
  /** A role, a name and a content stand there without their own names. */
  const message = (of: Json): number => {
    if (!isObject(of)) return value(of)
    const { role = '', content = '', ...others } = of
    const parts = Array.isArray(content) ? content : [content]
    return (
      value(role) + parts.reduce<number>((sum, part) => sum + partOf(part), 0) + members(others)
    )
  }
  const partOf = (part: Json): number => {
    if (!isObject(part)) return part === null ? 0 : value(part)
    const { type: _, text: said, ...others } = part
    return (said === undefined ? 0 : value(said)) + members(others)
  }
  const { messages, input, ...others } = content
  let tokens = 0
  for (const one of listOf(messages)) tokens += message(one)
  for (const one of listOf(input)) tokens += message(one)
  const hasOthers = Object.keys(others).length > 0
  if (hasOthers) tokens += text(JSON.stringify(others, null, 1))
  return { most: tokens, likely }
}

const listOf = (value: Json | undefined): Json[] =>
  value === undefined ? [] : Array.isArray(value) ? value : [value]
