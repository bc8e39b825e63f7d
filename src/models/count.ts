/** Counts tokens where no report says them: from the bytes that passed through our hands. */
import type { Json } from '../kernel/canonical.ts'
import type { Model } from './model.ts'

/** Bytes of a token where a model does not say. */
export const defaultBytesPerToken = 4

/**
 * The most bytes of a token where the client chose the end. Digits, code and CJK have fewer bytes
 * a token than prose, so at a larger number an end that is chosen would be a discount.
 */
const mostAtClientsEnd = 3

/** What of a model counting needs. */
export type Counting = Pick<Model, 'bytesPerToken'>

/**
 * The tokens of what passed. `_what` is for models whose text is counted exactly: a request, or
 * choices. `isClientsEnd`: the client chose where it ends.
 */
export function countTokens(
  { bytesPerToken }: Counting,
  bytes: number,
  _what: Json,
  isClientsEnd: boolean,
): number {
  const divisor = isClientsEnd ? Math.min(bytesPerToken, mostAtClientsEnd) : bytesPerToken
  return Math.ceil(bytes / divisor)
}
