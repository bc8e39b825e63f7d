import { and, asc, eq, inArray, isNotNull, isNull } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import { type Db, insert, prepared, type Query, rows, update, type Work } from '../db/db.ts'
import { findFact, lockFact, writeFact } from '../db/facts.ts'
import { assertLease, type Lease, takeLease } from '../db/lease.ts'
import type { RunRow } from '../db/schema.ts'
import type { Clock } from '../kernel/clock.ts'
import { leafKinds } from '../verify/merkle.ts'
import {
  append,
  type Frontier,
  type HashAt,
  hashIn,
  homeOf,
  type Place,
  peaksOf,
  type StoredLeaf,
} from './tree.ts'

export type LogStore = ReturnType<typeof logStore>

const leaseName = 'sequencer'
const sizeFact = 'log.size'
export const originFact = 'log.origin'

/** Rows kept for proofs, and the fewest bytes of one: a sixteenth of all rows have five hashes. */
const sharedMax = 20_000
const sharedBytes = 5 * 32

/** The log itself: every receipt has a number and a leaf, and no number is left out. */
export function logStore(
  db: Db,
  { clock, node, origin }: { clock: Pick<Clock, 'now'>; node: string; origin: string },
) {
  const { runs } = db.tables
  /** The tree's edge as this process last wrote it; only where it writes alone. */
  let remembered: Frontier | undefined
  const forget = (): void => {
    remembered = undefined
  }
  /** Rows that many proofs share, as committed; they never change. */
  const shared = new LRUCache<number, FoundLeaf>({ max: sharedMax })
  db.onForeignWrite(() => {
    forget()
    shared.clear()
  })

  /** Gives ended runs their numbers and their leaves, in the caller's transaction. */
  function* appendRuns(
    q: Query,
    ended: { digest: Uint8Array | null; logIndex: number | null }[],
  ): Work<void> {
    const before = remembered ?? (yield* readFrontier(db, q))
    // Until the whole transaction stands, nothing is known.
    forget()
    const leaves = ended.map(({ digest }) => {
      if (!digest) throw new Error('a run ended without a digest')
      return { kind: leafKinds.receipt, digest }
    })
    const { stored, frontier } = append(before, leaves)
    for (const [i, run] of ended.entries()) run.logIndex = before.size + i
    // From its first leaf on the log has this name, whatever base_url says later.
    if (before.size === 0) yield* writeFact(db, originFact, origin)
    yield* insert(db.tables.logLeaves, stored)
    yield* writeFact(db, sizeFact, String(frontier.size))
    if (db.exclusive) remembered = frontier
  }

  return {
    takeLease: (): Promise<Lease | undefined> => takeLease(db, clock, leaseName, node),
    /** Numbers up to `most` ended runs, oldest first, and returns how many. */
    number: async (lease: Lease, most: number): Promise<number> => {
      try {
        return await db.write(function* (q) {
          yield* assertLease(db, q, lease, clock.now())
          const waiting = yield* rows(
            q
              .select({ id: runs.id, digest: runs.digest, logIndex: runs.logIndex })
              .from(runs)
              .where(and(isNull(runs.logIndex), isNotNull(runs.finishedAt)))
              .orderBy(asc(runs.finishedAt), asc(runs.id))
              .limit(most),
          )
          if (waiting.length === 0) return 0
          yield* appendRuns(q, waiting)
          yield* update(runs, waiting, ['logIndex'])
          return waiting.length
        })
      } catch (error) {
        // What was remembered of it was taken back with it.
        forget()
        throw error
      }
    },
    /** Numbers runs in the transaction that ends them, where this process writes alone. */
    numbering: {
      number: (q: Query, ended: RunRow[]): Work<void> => appendRuns(q, ended),
      forget,
    },
    size: async (): Promise<number> => Number((await findFact(db, sizeFact)) ?? 0),
    /** The hashes of stored subtrees, to be asked by place. */
    hashes: (places: readonly Place[]): Promise<HashAt> =>
      db.read(function* (q) {
        const homes = [...new Set(places.map(homeOf))]
        const known = homes.flatMap((idx) => shared.get(idx) ?? [])
        const missing = homes.filter((idx) => !shared.has(idx))
        const read = yield* findLeaves(db, q, missing)
        for (const leaf of read) if (leaf.hashes.length >= sharedBytes) shared.set(leaf.idx, leaf)
        return hashesIn([...known, ...read])
      }),
  }
}

/** The edge of the stored tree, locked until the transaction ends. */
function* readFrontier(db: Db, q: Query): Work<Frontier> {
  const size = Number((yield* lockFact(db, q, sizeFact)) ?? 0)
  const places = peaksOf({ from: 0, to: size })
  const leaves = yield* findLeaves(db, q, places.map(homeOf))
  return { size, peaks: places.map(hashesIn(leaves)) }
}

function hashesIn(leaves: readonly FoundLeaf[]): HashAt {
  const found = new Map(leaves.map((leaf) => [leaf.idx, leaf]))
  return (place) => {
    const leaf = found.get(homeOf(place))
    if (!leaf) throw new Error(`the log lacks its leaf ${homeOf(place)}`)
    return hashIn(leaf, place)
  }
}

type FoundLeaf = Pick<StoredLeaf, 'idx' | 'hashes'>

/** One round trip to a server; in process, where there is none, a compiled look-up for each. */
function* findLeaves(db: Db, q: Query, wanted: readonly number[]): Work<FoundLeaf[]> {
  const { logLeaves: leaves } = db.tables
  const select = () => q.select({ idx: leaves.idx, hashes: leaves.hashes }).from(leaves)
  if (!db.exclusive) {
    return wanted.length === 0 ? [] : yield* rows(select().where(inArray(leaves.idx, [...wanted])))
  }
  const found: FoundLeaf[] = []
  for (const idx of wanted) {
    const read = prepared('log.leaf', { idx }, (values) =>
      select().where(eq(leaves.idx, values.idx)),
    )
    found.push(...(yield* read))
  }
  return found
}
