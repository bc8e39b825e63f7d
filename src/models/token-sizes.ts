/** Keeps the bytes of a token by model: a running figure of the reported runs of this process. */
import { AccountSums, lowerMedian } from './account-sums.ts'

/** The two sides are measured apart: text that is read is JSON. */
type TextSide = 'read' | 'said'

/** So many runs of a model have to be reported before they say anything. */
const leastRuns = 8
/** Shorter texts are mostly the frame around them. */
const leastTokens = 100
/** Bytes of a token at most: what has more is padding. */
const mostBytes = 16

/** The lower median of accounts counts, so that one alone cannot make a token large for all. */
export class TokenSizes {
  private readonly sides = {
    read: new AccountSums<'bytes' | 'tokens'>(),
    said: new AccountSums<'bytes' | 'tokens'>(),
  }

  /** Notes a reported run. Tokens without a byte each are hidden reasoning, and say nothing. */
  note(
    { model, account }: { model: string; account: string },
    side: TextSide,
    { bytes, tokens }: { bytes: number; tokens: number },
  ): void {
    if (tokens < leastTokens || tokens > bytes) return
    this.sides[side].add(model, account, { bytes: Math.min(bytes, tokens * mostBytes), tokens })
  }

  /** Bytes of a token, from 1 to 16; undefined while too little is known. */
  of(model: string, side: TextSide): number | undefined {
    const all = this.sides[side].of(model)
    if (all.reduce((sum, { runs }) => sum + runs, 0) < leastRuns) return undefined
    const sizes = all.map(({ bytes, tokens }) => bytes / tokens)
    return lowerMedian(sizes, (size) => size)
  }
}
