import { eq, inArray } from 'drizzle-orm'
import { type Db, prepared, type Query, rows, type Work } from '../db/db.ts'
import { lockFact } from '../db/facts.ts'
import { type Frontier, type HashAt, hashIn, homeOf, peaksOf, type StoredLeaf } from './tree.ts'

/** The fact that says how many leaves the current log has. */
export const sizeFact = 'log.size'

/** What is stored of a leaf, by its place among the leaves of all logs. */
export type FoundLeaf = Pick<StoredLeaf, 'idx' | 'hashes'>

/** The edge of the log that starts at a place, locked until the transaction ends. */
export function* readFrontier(db: Db, q: Query, start: number): Work<Frontier> {
  const size = Number((yield* lockFact(db, q, sizeFact)) ?? 0)
  const peaks = peaksOf({ from: 0, to: size })
  const homes = peaks.map((peak) => start + homeOf(peak))
  const leaves = yield* findLeaves(db, q, homes)
  return { size, peaks: peaks.map(hashesIn(leaves, start)) }
}

/** The subtrees of the log that starts at a place, out of rows. */
export function hashesIn(leaves: readonly FoundLeaf[], start: number): HashAt {
  const found = new Map(leaves.map((leaf) => [leaf.idx, leaf]))
  return (place) => {
    const leaf = found.get(start + homeOf(place))
    if (!leaf) throw new Error(`the log lacks its leaf ${homeOf(place)}`)
    return hashIn(leaf, place)
  }
}

/** One round trip to a server; in process, where there is none, a compiled look-up for each. */
export function* findLeaves(db: Db, q: Query, wanted: readonly number[]): Work<FoundLeaf[]> {
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
