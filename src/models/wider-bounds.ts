/** Widens the bound of a request by what is known of the servers that it may go to. */
import { type Bound, contextOf } from './bound.ts'
import type { Model } from './model.ts'

/** The bound where a server takes no limit of the answer: as much as its model writes. */
export function withoutLimit(model: Model, bound: Bound): Bound {
  const context = contextOf(model)
  const maxTokens = Math.min(model.maxOutputTokens, context - 1)
  if (bound.outputTokens === 0 || maxTokens <= bound.maxTokens) return bound
  const { isLowered: _, ...rest } = bound
  return {
    ...rest,
    maxTokens,
    outputTokens: maxTokens * bound.n,
    limit: bound.limit ?? bound.maxTokens,
    // Input that is read several times has a context each time.
    ...(bound.inputTokens < context && bound.inputTokens + maxTokens > context
      ? { contextTokens: context }
      : {}),
  }
}

/** A bound for a request that may be read in either of two forms. */
export function widest(a: Bound, b: Bound): Bound {
  const { contextTokens: _, countedText: __, countedMedia: ___, ...both } = { ...b, ...a }
  const inputTokens = Math.max(a.inputTokens, b.inputTokens)
  const bound: Bound = {
    ...both,
    inputTokens,
    inputBytes: Math.max(a.inputBytes, b.inputBytes),
  }
  const text = mostOf(a.countedText, b.countedText)
  if (text !== undefined) bound.countedText = text
  const media = mostOf(a.countedMedia, b.countedMedia)
  if (media !== undefined) bound.countedMedia = media
  const contextTokens = mostOf(a.contextTokens, b.contextTokens)
  // Input that is read several times has a context each time.
  if (contextTokens !== undefined && inputTokens < contextTokens)
    bound.contextTokens = contextTokens
  return bound
}

const mostOf = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined ? b : Math.max(a, b ?? a)
