import { and, asc, isNotNull, isNull } from 'drizzle-orm'
import type { Millis } from '../../kernel/clock.ts'
import { sha256 } from '../../kernel/hash.ts'
import { type Refusal, refuse } from '../../kernel/refusal.ts'
import type { Db } from '../../storage/db/db.ts'
import { findFact, writeFact } from '../../storage/db/facts.ts'
import { assertLease, type Lease, type LeaseTime, takeLease } from '../../storage/db/lease.ts'
import { insert, type Query, rows, update, type Work } from '../../storage/db/query-steps.ts'
import type { RunRow } from '../../storage/db/schema.ts'
import { structDigest } from '../../verify/eip712.ts'
import { leafKinds } from '../../verify/merkle.ts'
import {
  assertHolds,
  faultOfHead,
  hashesIn,
  LogForgot,
  readFrontier,
  sizeFact,
} from './store/leaf.ts'
import { leafCache } from './store/leaf-cache.ts'
import {
  append,
  emptyFrontier,
  type Frontier,
  type HashAt,
  homeOf,
  type Leaf,
  type Place,
  rootOf,
} from './tree.ts'

export type LogStore = ReturnType<typeof logStore>

/** The steps of a transaction that appends: see {@link LogStore.change}. */
export type Appending = {
  /** Adds leaves to the current log; they may say at which index the first of them will be. */
  append(leavesFrom: (index: number) => Leaf[]): Work<Appended>
  /** Numbers every ended run that waits for it. */
  numberWaiting(): Work<void>
  /** Logs every version of the prices that is not in the log. */
  appendPrices(): Work<void>
  /** Lets the log end here and begins the next with this leaf; gives the place of that. */
  startAnew(leaf: Leaf): Work<number>
}

/** The index of the first leaf added, its place, and the edge of the log with all of them. */
export type Appended = { index: number; place: number; frontier: Frontier }

/** A log at a size, as this process knows it, and when it was so. */
export type KnownHead = { size: number; root: Uint8Array; timestamp: Millis }

/** Decides whether this process may append now, and hears that the database lacks leaves. */
export type AppendGuard = {
  /** Why nothing may be appended now; undefined where it may. */
  closed(): Refusal | undefined
  /** A transaction found that the log no longer begins with `head`. */
  forgot(head: { size: number }, how: string): void
}

type Waiting = Pick<RunRow, 'id' | 'digest' | 'logPlace'>

const leaseName = 'sequencer'

/**
 * The log itself: every receipt has a number and a leaf, and no number is left out. `start` is the
 * place of the first leaf of the current log among the leaves of all.
 */
export function logStore(db: Db, options: { clock: LeaseTime; node: string; start: number }) {
  const { clock, node } = options
  const { runs, priceLists } = db.tables
  let { start } = options
  /** The tree's edge as this process last wrote it; only where it writes alone. */
  let remembered: Frontier | undefined
  const forget = (): void => {
    remembered = undefined
  }
  const findShared = leafCache(db)
  /** The largest log that this process signed, saw signed or numbered. */
  let known: KnownHead | undefined
  let guard: AppendGuard | undefined
  /** What transactions that are under way make of the log. */
  const written = new WeakMap<Query, Frontier>()
  db.onForeignWrite(forget)
  db.onConnectionLost(forget)

  const know = (head: KnownHead): void => {
    if (head.size <= (known?.size ?? 0)) return
    known = { size: head.size, root: head.root, timestamp: head.timestamp }
  }

  /** The edge of the log. @throws LogForgot where it does not begin with what is known of it. */
  function* frontierOf(q: Query): Work<Frontier> {
    if (remembered) return remembered
    const before = yield* readFrontier(db, q, start)
    if (known) yield* assertHolds(db, q, start, before, known)
    return before
  }

  function* appendLeaves(q: Query, leavesFrom: (index: number) => Leaf[]): Work<Appended> {
    const closed = guard?.closed()
    if (closed) throw closed
    let before = yield* frontierOf(q)
    // Until the whole transaction stands, nothing is known.
    forget()
    // Prices wait for the first leaf, for until then the log has no name yet. Another node may
    // have come with new ones at any time.
    if (before.size === 0 || !db.exclusive) before = yield* appendPrices(q, before)
    return yield* write(q, before, leavesFrom(before.size))
  }

  function* write(q: Query, before: Frontier, leaves: Leaf[]): Work<Appended> {
    const { stored, frontier } = append(before, leaves)
    for (const leaf of stored) leaf.idx += start
    yield* insert(db.tables.logLeaves, stored)
    yield* writeFact(db, sizeFact, String(frontier.size))
    written.set(q, frontier)
    if (db.exclusive) remembered = frontier
    return { index: before.size, place: start + before.size, frontier }
  }

  /** A version is in the log before any receipt there can name it. */
  function* appendPrices(q: Query, before: Frontier): Work<Frontier> {
    const unlogged = q.select().from(priceLists).where(isNull(priceLists.logPlace))
    const lists = yield* rows(unlogged.orderBy(asc(priceLists.id), asc(priceLists.version)))
    if (lists.length === 0) return before
    const leaves = lists.map(({ id, version, content }) => {
      const digest = structDigest('PriceList', { id, version, content: sha256(content) })
      return { kind: leafKinds.priceList, digest }
    })
    const { place, frontier } = yield* write(q, before, leaves)
    for (const [i, list] of lists.entries()) list.logPlace = place + i
    yield* update(priceLists, lists, ['logPlace'])
    return frontier
  }

  /** Gives ended runs their places and their leaves, in the caller's transaction. */
  function* appendRuns(q: Query, ended: Waiting[]): Work<void> {
    // They wait for their numbers, which the money that they cost does not.
    if (guard?.closed()) return
    const { place } = yield* appendLeaves(q, () =>
      ended.map(({ digest }) => {
        if (!digest) throw new Error('a run ended without a digest')
        return { kind: leafKinds.receipt, digest }
      }),
    )
    for (const [i, run] of ended.entries()) run.logPlace = place + i
  }

  function* numberSome(q: Query, most: number): Work<number> {
    if (guard?.closed()) return 0
    const waiting: Waiting[] = yield* rows(
      q
        .select({ id: runs.id, digest: runs.digest, logPlace: runs.logPlace })
        .from(runs)
        .where(and(isNull(runs.logPlace), isNotNull(runs.finishedAt)))
        .orderBy(asc(runs.finishedAt), asc(runs.id))
        .limit(most),
    )
    if (waiting.length === 0) return 0
    yield* appendRuns(q, waiting)
    yield* update(runs, waiting, ['logPlace'])
    return waiting.length
  }

  /** Runs work in a transaction; what was remembered of the log is taken back with it. */
  async function forgetful<T>(work: (q: Query) => Work<T>): Promise<T> {
    const startedAt = start
    let made: Frontier | undefined
    try {
      const value = await db.write(function* (q) {
        written.delete(q)
        const value = yield* work(q)
        made = written.get(q)
        return value
      })
      if (start !== startedAt) known = undefined
      else if (made) know({ size: made.size, root: rootOf(made), timestamp: clock.now() })
      return value
    } catch (error) {
      start = startedAt
      forget()
      if (!(error instanceof LogForgot)) throw error
      guard?.forgot(error.head, error.message)
      refuse('log_diverged')
    }
  }

  const appending = (q: Query): Appending => ({
    append: (leavesFrom) => appendLeaves(q, leavesFrom),
    *numberWaiting() {
      while ((yield* numberSome(q, 1000)) === 1000);
    },
    *appendPrices() {
      // Prices that wait are logged together with the next leaf.
      if (guard?.closed()) return
      const before = yield* frontierOf(q)
      if (before.size === 0) return
      forget()
      yield* appendPrices(q, before)
    },
    *startAnew(leaf) {
      start += (yield* frontierOf(q)).size
      known = undefined
      forget()
      const { frontier } = yield* write(q, emptyFrontier, [leaf])
      // Its receipts may name any of them.
      yield* rows(q.update(priceLists).set({ logPlace: null }).returning())
      yield* appendPrices(q, frontier)
      return start
    },
  })

  return {
    takeLease: (): Promise<Lease | undefined> => takeLease(db, clock, leaseName, node),
    /** Lets the node that has the lease know that receipts wait. */
    tellHolder: async (): Promise<void> => db.notices?.tell('ended'),
    /** Numbers up to `most` ended runs, oldest first, and returns how many. */
    number: (lease: Lease, most: number): Promise<number> =>
      forgetful(function* (q) {
        yield* assertLease(db, q, lease, clock.now())
        return yield* numberSome(q, most)
      }),
    /** Numbers runs in the transaction that ends them, where this process writes alone. */
    numbering: {
      number: (q: Query, ended: RunRow[]): Work<void> => appendRuns(q, ended),
      forget,
    },
    /** One transaction that appends what is no receipt, and what belongs to it. */
    change: <T>(work: (q: Query, log: Appending) => Work<T>): Promise<T> =>
      forgetful((q) => work(q, appending(q))),
    /** How many leaves the current log has. */
    size: async (): Promise<number> => Number((await findFact(db, sizeFact)) ?? 0),
    /** The hashes of stored subtrees of a log, to be asked by place in its tree. */
    hashes: (log: { start: number }, places: readonly Place[]): Promise<HashAt> =>
      db.read(function* (q) {
        const homes = [...new Set(places.map((place) => log.start + homeOf(place)))]
        return hashesIn(yield* findShared(q, homes), log.start)
      }),
    guardBy: (by: AppendGuard): void => {
      guard = by
    },
    /** Notes a head of the current log: from now on nothing is appended to a log without it. */
    know,
    /** The largest log that this process knows of. */
    known: (): KnownHead | undefined => known,
    /**
     * How the current log, as the database has it now, contradicts a head; undefined where it
     * begins with it. Reads all that it compares.
     */
    faultOf: (head: Omit<KnownHead, 'timestamp'>): Promise<string | undefined> =>
      db.read((q) => faultOfHead(db, q, start, head)),
  }
}
