/** Counts tokens where no report says them: of what passed through our hands. */
import type { Json } from '../kernel/canonical.ts'
import { textsIn } from './free-members.ts'
import type { Model } from './model.ts'
import { loadedTokenizer } from './tokenizers/load.ts'

/** Bytes of a token where a model does not say. */
export const defaultBytesPerToken = 4

/** The facts of a model for counting. `readBytesPerToken`: of what it reads, where that differs. */
export type CountingRule = Pick<Model, 'bytesPerToken'> &
  Partial<Pick<Model, 'tokenizer'>> & { readBytesPerToken?: number }

/**
 * The tokens of choices of so many bytes: exact where the model has a tokenizer, which the begin of
 * its run loaded.
 */
export function countOutput(
  { bytesPerToken, tokenizer: name }: CountingRule,
  { bytes, choices }: { bytes: number; choices: Json },
): number {
  const tokenizer = name && loadedTokenizer(name)
  if (!tokenizer) return tokensOfBytes(bytes, bytesPerToken)
  return textsIn(choices).reduce((sum, text) => sum + tokenizer.count(text), 0)
}

export const tokensOfBytes = (bytes: number, bytesPerToken: number): number =>
  Math.ceil(bytes / bytesPerToken)
