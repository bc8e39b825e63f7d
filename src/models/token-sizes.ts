/** Keeps the bytes of a token by model: a running figure of the reported runs of this process. */

/** The two sides are measured apart: text that is read is JSON. */
export type TextSide = 'read' | 'said'

/** So many runs of a model have to be reported before they say anything. */
const leastRuns = 8
/** Shorter texts are mostly the frame around them. */
const leastTokens = 100
/** Sums of an account are halved after so many runs, so that they follow what is asked now. */
const mostRuns = 64
/** The accounts of a model that are remembered. */
const mostAccounts = 64
/** Bytes of a token at most: what has more is padding. */
const mostBytes = 16

type Sum = { runs: number; bytes: number; tokens: number }
type Sums = Record<TextSide, Sum>

/**
 * Sums are kept by account and the lower median of accounts counts, so that one account alone
 * cannot make a token large for all.
 */
export class TokenSizes {
  private readonly models = new Map<string, Map<string, Sums>>()

  /** Notes a reported run. Tokens without a byte each are hidden reasoning, and say nothing. */
  note(
    { model, account }: { model: string; account: string },
    side: TextSide,
    { bytes, tokens }: { bytes: number; tokens: number },
  ): void {
    if (tokens < leastTokens || tokens > bytes) return
    const sum = this.sumsOf(model, account)[side]
    if (sum.runs >= mostRuns) {
      sum.runs /= 2
      sum.bytes /= 2
      sum.tokens /= 2
    }
    sum.runs++
    sum.bytes += Math.min(bytes, tokens * mostBytes)
    sum.tokens += tokens
  }

  /** Bytes of a token, from 1 to 16; undefined while too little is known. */
  of(model: string, side: TextSide): number | undefined {
    const all = [...(this.models.get(model)?.values() ?? [])].map((sums) => sums[side])
    if (all.reduce((sum, { runs }) => sum + runs, 0) < leastRuns) return undefined
    const sizes = all
      .filter(({ runs }) => runs > 0)
      .map(({ bytes, tokens }) => bytes / tokens)
      .sort((a, b) => a - b)
    return sizes[Math.floor((sizes.length - 1) / 2)]
  }

  private sumsOf(model: string, account: string): Sums {
    const accounts = this.models.get(model) ?? new Map<string, Sums>()
    this.models.set(model, accounts)
    const known = accounts.get(account)
    if (known) return known
    const [oldest] = accounts.keys()
    if (accounts.size >= mostAccounts && oldest !== undefined) accounts.delete(oldest)
    const fresh: Sums = {
      read: { runs: 0, bytes: 0, tokens: 0 },
      said: { runs: 0, bytes: 0, tokens: 0 },
    }
    accounts.set(account, fresh)
    return fresh
  }
}
