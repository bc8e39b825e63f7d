/** Sums up reported runs by account, for figures that one account alone cannot move. */

/** The accounts of a figure that are remembered. */
const mostAccounts = 64
/** Sums of an account are halved after so many runs, so that they follow what is asked now. */
const mostRuns = 64

/** Sums of an account; `runs` counts how many runs they are of. */
export type AccountSum<Name extends string> = { [Each in Name | 'runs']: number }

/** The sums of each account, by the model or the kind of runs that they are of. */
export class AccountSums<Name extends string> {
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
export function lowerMedian<Figure>(
  figures: readonly Figure[],
  sizeOf: (figure: Figure) => number,
): Figure | undefined {
  const rising = figures.toSorted((a, b) => sizeOf(a) - sizeOf(b))
  return rising[Math.floor((rising.length - 1) / 2)]
}
