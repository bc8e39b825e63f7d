/** Counts tokens where no report says them: of what passed through our hands. */
import type { Json } from '../kernel/canonical.ts'
import { textsIn } from './free-members.ts'
import type { Model } from './model.ts'
import { loadedTokenizer } from './tokenizers/load.ts'

/** Bytes of a token where a model does not say. */
export const defaultBytesPerToken = 4

/**
 * The most bytes of a token where the client chose the end. Digits, code and CJK have fewer bytes
 * a token than prose, so at a larger number an end that is chosen would be a discount.
 */
const mostAtClientsEnd = 3

/** What of a model counting needs. */
export type Counting = Pick<Model, 'bytesPerToken'> & Partial<Pick<Model, 'tokenizer'>>

/**
 * The tokens of choices of so many bytes: exact where the model has a tokenizer, which the begin of
 * its run loaded. `isClientsEnd`: the client chose where they end.
 */
export function countOutput(
  { bytesPerToken, tokenizer: name }: Counting,
  { bytes, choices }: { bytes: number; choices: Json },
  isClientsEnd: boolean,
): number {
  const tokenizer = name && loadedTokenizer(name)
  if (!tokenizer) return tokensOfBytes(bytes, bytesPerToken, isClientsEnd)
  return textsIn(choices).reduce((sum, text) => sum + tokenizer.count(text), 0)
}

export function tokensOfBytes(bytes: number, bytesPerToken: number, isClientsEnd: boolean): number {
  const divisor = isClientsEnd ? Math.min(bytesPerToken, mostAtClientsEnd) : bytesPerToken
  return Math.ceil(bytes / divisor)
}
