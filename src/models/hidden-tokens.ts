/** Keeps how much reported runs wrote unseen, by model: a running figure of this process. */
import { AccountSums, lowerMedian } from './account-sums.ts'

/** So many runs that reasoned have to be reported before their reasoning counts as streamed. */
const leastStreamed = 8
/** The most of their output that may be missing then: bytes tell tokens only roughly. */
const mostMissing = 0.1

/** A reported run, in tokens. */
type ReportedRun = {
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
type HiddenShare = { tokens: number; ms: number }

/** The lower median of accounts counts, so that one alone cannot make the others' runs dearer. */
export class HiddenTokens {
  private readonly sums = new AccountSums<'hidden' | 'written' | 'ms' | 'reasoned'>()

  note(
    kind: string,
    { account, written, counted, reasoning, isMore, durationMs: ms }: ReportedRun,
  ): void {
    const missing = Math.max(0, written - counted)
    const unseen = isMore ? missing : 0
    const hidden = reasoning > 0 ? Math.min(reasoning, missing) : unseen
    this.sums.add(kind, account, { hidden, written, ms, reasoned: reasoning > 0 ? 1 : 0 })
  }

  /** Undefined where nothing was hidden so far. */
  of(kind: string): HiddenShare | undefined {
    const all = this.sums.of(kind)
    if (!all.some(({ hidden }) => hidden > 0)) return undefined
    const usual = all.map(({ runs, hidden, ms }) => ({ tokens: hidden / runs, ms: ms / runs }))
    return lowerMedian(usual, ({ tokens }) => tokens)
  }

  /** Whether the reasoning of these runs came, all of it, in the runs of every account. */
  isStreamed(kind: string): boolean {
    const all = this.sums.of(kind)
    const reasoned = all.reduce((sum, one) => sum + one.reasoned, 0)
    return (
      reasoned >= leastStreamed &&
      all.every(({ hidden, written }) => hidden <= written * mostMissing)
    )
  }
}
