/** Reads stored leaves: the frontier of a log, its subtrees, and whether it begins with a head. */
import { eq } from 'drizzle-orm'
import { toHex } from '../../../kernel/hex.ts'
import type { Db } from '../../../storage/db/engine/db.ts'
import { lockFact, readFact } from '../../../storage/db/sql/facts.ts'
import { findFields, prepared, type Query, type Work } from '../../../storage/db/sql/query-steps.ts'
import {
  type Frontier,
  type HashAt,
  hashIn,
  hashOf,
  homeOf,
  LeafDamage,
  peaksOf,
  rootOf,
  type StoredLeaf,
} from '../tree.ts'

/** The fact that holds the size of the current log. */
export const sizeFact = 'log.size'

/** A stored leaf; `idx` is its place among the leaves of all logs. */
export type FoundLeaf = Pick<StoredLeaf, 'idx' | 'hashes'>

/** The frontier of the log that starts at a place, locked until the transaction ends. */
export function* readFrontier(db: Db, q: Query, start: number): Work<Frontier> {
  const size = Number((yield* lockFact(db, sizeFact)) ?? 0)
  const peaks = peaksOf({ from: 0, to: size })
  const homes = peaks.map((peak) => start + homeOf(peak))
  const leaves = yield* findLeaves(db, q, homes)
  return { size, peaks: peaks.map(hashesIn(leaves, start)) }
}

/** The database lacks leaves that this process knows: it went back to an earlier state. */
export class LogForgot extends Error {
  constructor(
    readonly head: { size: number; root: Uint8Array },
    how: string,
  ) {
    super(how)
  }
}

/** @throws LogForgot if the log with this frontier does not begin with the known head. */
export function* assertHolds(
  db: Db,
  q: Query,
  start: number,
  edge: Frontier,
  known: { size: number; root: Uint8Array },
): Work<void> {
  if (known.size > edge.size) throw new LogForgot(known, `it has only ${edge.size}`)
  const whole = { from: 0, to: known.size }
  let root: Uint8Array
  if (known.size === edge.size) root = rootOf(edge)
  else {
    const homes = peaksOf(whole).map((place) => start + homeOf(place))
    root = hashOf(whole, hashesIn(yield* findLeaves(db, q, homes), start))
  }
  if (toHex(root) !== toHex(known.root)) throw new LogForgot(known, `its root is ${toHex(root)}`)
}

/** How the stored log contradicts a head; undefined if it begins with the head. */
export function* faultOfHead(
  db: Db,
  q: Query,
  start: number,
  head: { size: number; root: Uint8Array },
): Work<string | undefined> {
  const size = Number((yield* readFact(db, q, sizeFact)) ?? 0)
  if (head.size > size) return `it has only ${size}`
  const whole = { from: 0, to: head.size }
  const homes = peaksOf(whole).map((place) => start + homeOf(place))
  const found = yield* findLeaves(db, q, homes)
  if (found.length < homes.length) return 'leaves are missing'
  const root = toHex(hashOf(whole, hashesIn(found, start)))
  return root === toHex(head.root) ? undefined : `its root there is ${root}`
}

/** Looks up subtrees, in these leaves, of the log that starts at a place. */
export function hashesIn(leaves: readonly FoundLeaf[], start: number): HashAt {
  const found = new Map(leaves.map((leaf) => [leaf.idx, leaf]))
  return (place) => {
    const idx = homeOf(place)
    const leaf = found.get(start + idx)
    if (!leaf) throw new LeafDamage(idx, 'it is missing')
    return hashIn({ idx, hashes: leaf.hashes }, place)
  }
}

/** One round trip to a server; in process a prepared lookup for each leaf. */
export function* findLeaves(db: Db, q: Query, wanted: readonly number[]): Work<FoundLeaf[]> {
  const { logLeaves: leaves } = db.tables
  if (!db.exclusive) return yield* findFields(leaves, ['idx', 'hashes'], { idx: wanted })
  const select = () => q.select({ idx: leaves.idx, hashes: leaves.hashes }).from(leaves)
  const found: FoundLeaf[] = []
  for (const idx of wanted) {
    const read = prepared('log.leaf', { idx }, (values) =>
      select().where(eq(leaves.idx, values.idx)),
    )
    found.push(...(yield* read))
  }
  return found
}
