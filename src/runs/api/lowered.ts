/** Says how many tokens an answer could have, where that is less than was asked for. */
import type { Bound } from '../../models/bound.ts'

/** The header of a run whose `max_tokens` was lowered, to the model's limit or to fit. */
export const loweredHeader = ({ maxTokens }: Bound) => ({
  'x-counterfoil-max-tokens': String(maxTokens),
})

/** The same in the body, for a client that asked to lower it. */
export const fittedOf = ({ maxTokens }: Bound, fit: boolean): { max_output_tokens?: number } =>
  fit && maxTokens > 0 ? { max_output_tokens: maxTokens } : {}
