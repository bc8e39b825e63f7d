/**
 * Keeps running figures of the reported runs of this process, by model: the bytes of a token, and
 * how much a run writes unseen.
 */

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

/** The accounts of a figure that are remembered. */
const mostAccounts = 64
/** Sums of an account are halved after so many runs, so that they follow what is asked now. */
const mostRuns = 64

/** Sums of an account; `runs` counts how many runs they are of. */
type AccountSum<Name extends string> = { [Each in Name | 'runs']: number }

/** The sums of each account, by the model or the kind of runs that they are of. */
class AccountSums<Name extends string> {
  private readonly kinds = new Map<string, Map<string, AccountSum<Name>>>()

  /** Adds what one run of an account counts. */
  add(kind: string, account: string, run: { [Each in Name]: number }): void {
    const sums = this.kinds.get(kind) ?? new Map<string, AccountSum<Name>>()
    this.kinds.set(kind, sums)
    const one: AccountSum<Name> = { ...run, runs: 1 }
    const known = sums.get(account)
    if (!known) {
      const [oldest] = sums.keys()
      if (sums.size >= mostAccounts && oldest !== undefined) sums.delete(oldest)
      sums.set(account, one)
      return
    }
    const kept = known.runs >= mostRuns ? 0.5 : 1
    for (const name of Object.keys(one) as (Name | 'runs')[]) {
      known[name] = known[name] * kept + one[name]
    }
  }

  /** The sums of all accounts that are remembered. */
  of(kind: string): AccountSum<Name>[] {
    return [...(this.kinds.get(kind)?.values() ?? [])]
  }
}

/** The lower median of accounts; undefined where there are none. */
function lowerMedian<Figure>(
  figures: readonly Figure[],
  sizeOf: (figure: Figure) => number,
): Figure | undefined {
  const rising = figures.toSorted((a, b) => sizeOf(a) - sizeOf(b))
  return rising[Math.floor((rising.length - 1) / 2)]
}
