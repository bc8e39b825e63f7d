/** The most tokens of a request that goes on as it came. */
import type { Json } from '../../../kernel/canonical.ts'
import { isObject, type JsonObject } from '../../../kernel/json-object.ts'
import { askedTokens, type Bound, boundOfText, readOf, tierOf } from '../../bound.ts'
import type { Model } from '../../model.ts'
import type { Tokenizer } from '../../tokenizers/tokenizer.ts'
import type { NativeReading } from './read.ts'

/** @throws Refusal 'invalid_request' */
export function boundOfNative(model: Model, native: NativeReading, tokenizer?: Tokenizer): Bound {
  const { members, bytes, moreTokens, pieces, media, encoded, limit, searches, readings } = native
  const content = tokenizer && encoded.length > 0 ? withoutEncoded(members, encoded) : members
  const read = readOf(model, content, bytes, tokenizer)
  return boundOfText(model, {
    read: { most: read.most + moreTokens, likely: read.likely },
    inputBytes: bytes,
    pieces,
    media,
    asked: askedTokens(model, [limit]),
    n: 1,
    tier: tierOf(model, members['service_tier']),
    searches,
    readings,
    isCounted: tokenizer !== undefined,
  })
}

/** The members without the data that is bounded by rules. */
function withoutEncoded(members: JsonObject, encoded: NativeReading['encoded']): JsonObject {
  const blank = new Map(encoded.map(({ of, member }) => [of, member]))
  const copy = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(copy)
    if (!isObject(value)) return value
    // Entries keep a member `__proto__`, whose text counts as well.
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        name,
        blank.get(value) === name ? '' : copy(member),
      ]),
    )
  }
  return copy(members) as JsonObject
}
