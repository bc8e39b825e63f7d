/** Remembers the receipts that this process logged last, so that counting need not read them. */
import type { RunCostRow, RunRow } from '../db/schema.ts'
import type { CountedReceipt } from './counter.ts'

/** The most that are remembered: who counts them is far behind then, and reads them. */
const most = 16_384

/** Receipts of one stretch of the log without a gap; what comes after a gap begins a new one. */
export type RecentReceipts = {
  /** Adds ended runs after their COMMIT, those that have a place. */
  add(ended: readonly RunRow[], costs: readonly RunCostRow[]): void
  /** The first `limit` from this place on; undefined if they are not remembered. */
  from(place: number, limit: number): CountedReceipt[] | undefined
  /** Forgets those before this place. */
  dropBefore(place: number): void
  forget(): void
}

export function recentReceipts(): RecentReceipts {
  let known: CountedReceipt[] = []
  let start = 0
  const forget = (): void => {
    known = []
  }
  return {
    add(ended, costs) {
      const wholesale = costs.length > 0 ? costsOf(costs) : undefined
      for (const run of ended) {
        const { logPlace: place, finishedAt } = run
        if (place === null || finishedAt === null) continue
        if (place !== start + known.length || known.length >= most) {
          forget()
          start = place
        }
        known.push(countedOf(run, place, finishedAt, wholesale?.get(run.id) ?? null))
      }
    },
    from(place, limit) {
      const at = place - start
      return at < 0 || at >= known.length ? undefined : known.slice(at, at + limit)
    },
    dropBefore(place) {
      const gone = Math.min(place - start, known.length)
      if (gone <= 0) return
      known.splice(0, gone)
      start += gone
    },
    forget,
  }
}

const costsOf = (costs: readonly RunCostRow[]) =>
  new Map(costs.map(({ runId, cost }) => [runId, cost]))

/** Only what is counted: the whole row would keep a request's commitments in memory too. */
const countedOf = (
  { accountId, keyId, model, status, lines, cost, passport }: RunRow,
  place: number,
  finishedAt: number,
  wholesale: CountedReceipt['wholesale'],
): CountedReceipt => ({
  place,
  accountId,
  keyId,
  model,
  status,
  lines,
  cost,
  passport,
  finishedAt,
  wholesale,
})
