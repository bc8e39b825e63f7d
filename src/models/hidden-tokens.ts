/** Keeps how much reported runs wrote unseen, by model: a running figure of this process. */

/** The accounts of a kind of runs that are remembered. */
const mostAccounts = 64
/** Sums of an account are halved after so many runs, so that they follow what is asked now. */
const mostRuns = 64
/** So many runs that reasoned have to be reported before their reasoning counts as streamed. */
const leastStreamed = 8
/** The most of their output that may be missing then: bytes tell tokens only roughly. */
const mostMissing = 0.1

type Sum = { runs: number; hidden: number; written: number; ms: number; reasoned: number }

/** A reported run, in tokens. */
export type SeenRun = {
  account: string
  written: number
  /** Tokens that came, as they would be counted. */
  counted: number
  /** As its server reports it, if it does. */
  reasoning: number
  /** Whether it wrote more than can have come: a token has a byte at least. */
  isMore: boolean
  durationMs: number
}

/** The usual run of a kind: the tokens that did not come, and how long it took. */
export type Hidden = { tokens: number; ms: number }

/**
 * Sums are kept by account, and the lower median of accounts counts, so that one account alone
 * cannot make the others' runs dearer.
 */
export class HiddenTokens {
  private readonly kinds = new Map<string, Map<string, Sum>>()

  note(kind: string, { account, written, counted, reasoning, isMore, durationMs }: SeenRun): void {
    const sum = this.sumOf(kind, account)
    if (sum.runs >= mostRuns) {
      for (const name of ['runs', 'hidden', 'written', 'ms', 'reasoned'] as const) sum[name] /= 2
    }
    const missing = Math.max(0, written - counted)
    sum.runs++
    sum.written += written
    sum.ms += durationMs
    if (reasoning > 0) sum.reasoned++
    if (reasoning > 0) sum.hidden += Math.min(reasoning, missing)
    else if (isMore) sum.hidden += missing
  }

  /** Undefined where nothing was hidden so far. */
  of(kind: string): Hidden | undefined {
    const all = [...(this.kinds.get(kind)?.values() ?? [])]
    if (!all.some(({ hidden }) => hidden > 0)) return undefined
    const usual = all
      .map(({ runs, hidden, ms }) => ({ tokens: hidden / runs, ms: ms / runs }))
      .sort((a, b) => a.tokens - b.tokens)
    return usual[Math.floor((usual.length - 1) / 2)]
  }

  /** Whether the reasoning of these runs came, all of it, in the runs of every account. */
  isStreamed(kind: string): boolean {
    const all = [...(this.kinds.get(kind)?.values() ?? [])]
    const reasoned = all.reduce((sum, one) => sum + one.reasoned, 0)
    return (
      reasoned >= leastStreamed &&
      all.every(({ hidden, written }) => hidden <= written * mostMissing)
    )
  }

  private sumOf(kind: string, account: string): Sum {
    const sums = this.kinds.get(kind) ?? new Map<string, Sum>()
    this.kinds.set(kind, sums)
    const known = sums.get(account)
    if (known) return known
    const [oldest] = sums.keys()
    if (sums.size >= mostAccounts && oldest !== undefined) sums.delete(oldest)
    const fresh = { runs: 0, hidden: 0, written: 0, ms: 0, reasoned: 0 }
    sums.set(account, fresh)
    return fresh
  }
}
