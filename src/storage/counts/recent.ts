/** Remembers the receipts that this process logged last, so that counting need not read them. */
import type { EndedRun, RunCostRow, RunRow } from '../db/schema/schema.ts'
import type { CountedReceipt } from './counter.ts'

/** The most that are remembered: who counts them is far behind then, and reads them. */
const most = 16_384

/** The most that wait for their places: the log numbers them within milliseconds. */
const unplacedMost = 4096

/** Receipts of one stretch of the log without a gap; what comes after a gap begins a new one. */
export type RecentReceipts = {
  /** Adds ended runs after their COMMIT; those without a place wait for {@link place}. */
  add(ended: readonly EndedRun[], costs: readonly RunCostRow[]): void
  /** Places ended runs, in the order of the log. An unknown one leaves a gap. */
  place(placed: readonly Pick<RunRow, 'id' | 'logPlace'>[]): void
  /** The first `limit` from this place on; undefined if they are not remembered. */
  from(place: number, limit: number): CountedReceipt[] | undefined
  /** Forgets those before this place. */
  dropBefore(place: number): void
  forget(): void
}

export function recentReceipts(): RecentReceipts {
  let known: CountedReceipt[] = []
  let start = 0
  const unplaced = new Map<string, CountedReceipt>()
  const append = (receipt: CountedReceipt): void => {
    if (receipt.place !== start + known.length || known.length >= most) {
      known = []
      start = receipt.place
    }
    known.push(receipt)
  }
  return {
    add(ended, costs) {
      const wholesale = costs.length > 0 ? costsOf(costs) : undefined
      // Runs that another node numbers are never placed here, so the map is emptied when full.
      if (unplaced.size + ended.length > unplacedMost) unplaced.clear()
      for (const run of ended) {
        const { id, logPlace: place } = run
        const counted = countedOf(run, place ?? -1, wholesale?.get(id) ?? null)
        if (place === null) unplaced.set(id, counted)
        else append(counted)
      }
    },
    place(placed) {
      for (const { id, logPlace } of placed) {
        const counted = unplaced.get(id)
        if (!counted || logPlace === null) continue
        unplaced.delete(id)
        counted.place = logPlace
        append(counted)
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
    forget() {
      known = []
      unplaced.clear()
    },
  }
}

const costsOf = (costs: readonly RunCostRow[]) =>
  new Map(costs.map(({ runId, cost }) => [runId, cost]))

/** Only what is counted: the whole row would keep a request's commitments in memory too. */
const countedOf = (
  run: EndedRun,
  place: number,
  wholesale: CountedReceipt['wholesale'],
): CountedReceipt => ({
  place,
  accountId: run.accountId,
  keyId: run.keyId,
  kind: run.kind,
  model: run.model,
  route: run.route,
  status: run.status,
  lines: run.lines,
  cost: run.cost,
  passport: run.passport,
  startedAt: run.startedAt,
  firstByteAt: run.firstByteAt,
  finishedAt: run.finishedAt,
  wholesale,
})
