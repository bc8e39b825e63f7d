/** Stores the log: appends leaves, numbers ended runs, and checks heads against stored leaves. */
import { asc, isNull } from 'drizzle-orm'
import type { Millis } from '../../kernel/clock.ts'
import { sha256 } from '../../kernel/hash.ts'
import { type Refusal, refuse } from '../../kernel/refusal.ts'
import type { Db } from '../../storage/db/engine/db.ts'
import {
  assertLease,
  type Lease,
  type LeaseTime,
  takeLease,
} from '../../storage/db/engine/lease.ts'
import type { EndedRun } from '../../storage/db/schema/schema.ts'
import { findFact, writeFact } from '../../storage/db/sql/facts.ts'
import {
  insert,
  type Query,
  remove,
  rows,
  update,
  type Work,
} from '../../storage/db/sql/query-steps.ts'
import { structDigest } from '../../verify/eip712.ts'
import { leafKinds } from '../../verify/merkle.ts'
import type { LogSpan } from './logs.ts'
import { damagedAmong } from './store/damaged.ts'
import {
  assertHolds,
  faultOfHead,
  hashesIn,
  LogForgot,
  readFrontier,
  sizeFact,
} from './store/leaf.ts'
import { leafCache } from './store/leaf-cache.ts'
import { upTo, type WaitingReceipt, waitingRuns } from './store/unplaced.ts'
import {
  append,
  emptyFrontier,
  type Frontier,
  type HashAt,
  homeOf,
  type Leaf,
  type LeafDamage,
  type Place,
  rootOf,
} from './tree.ts'

export type LogStore = {
  takeLease(): Promise<Lease | undefined>
  /** Tells the node with the lease that receipts are waiting. */
  tellHolder(): Promise<void>
  /**
   * Numbers ended runs, oldest first, whole batches until there are `most`. Returns how many; less
   * than `most` if none is left. @throws LostLease
   */
  number(lease: Lease, most: number): Promise<number>
  /** Remembers runs that this process ended, after their COMMIT, so that none is read again. */
  note(ended: readonly EndedRun[]): void
  /** Calls the listener with runs that got their places in transactions of their own. */
  onNumbered(listener: (placed: readonly PlacedRun[]) => void): void
  /** Numbers runs in the transaction that ends them, if this process writes alone. */
  numbering: { number(q: Query, ended: EndedRun[]): Work<boolean>; forget(): void }
  /** Runs one transaction that appends leaves other than receipts. */
  change<T>(work: (q: Query, log: Appending) => Work<T>): Promise<T>
  /** The number of leaves in the current log. */
  size(): Promise<number>
  /** Loads the hashes of stored subtrees of a log, to look up by place in its tree. */
  hashes(log: { start: number }, places: readonly Place[]): Promise<HashAt>
  /** The damage of the first of these subtrees that is not the hash of its parts. */
  damaged(log: LogSpan, places: readonly Place[]): Promise<LeafDamage | undefined>
  guardBy(guard: AppendGuard): void
  /** Registers a head of the current log: a log without it accepts no more leaves. */
  know(head: KnownHead): void
  /** The largest head that this process knows. */
  known(): KnownHead | undefined
  /**
   * How the current log as stored contradicts a head; undefined if it begins with the head. Reads
   * from the database without caches.
   */
  faultOf(head: Omit<KnownHead, 'timestamp'>): Promise<string | undefined>
}

/** A run with its place in the log. */
export type PlacedRun = Pick<EndedRun, 'id' | 'logPlace'>

/** The steps available in {@link LogStore.change}. */
export type Appending = {
  /** Adds leaves to the current log; `index` is the index of the first of them. */
  append(leavesFrom: (index: number) => Leaf[]): Work<AppendedLeaf>
  /** Numbers every waiting run. */
  numberWaiting(): Work<void>
  /** Logs every price list version that is not in the log yet. */
  appendPrices(): Work<void>
  /** Ends the log and begins the next one with this leaf; returns the leaf's place. */
  startNext(leaf: Leaf): Work<number>
}

/** The index and place of the first leaf added, and the frontier after the last. */
export type AppendedLeaf = { index: number; place: number; frontier: Frontier }

/** A head of the log as this process knows it. */
export type KnownHead = { size: number; root: Uint8Array; timestamp: Millis }

/** Decides whether this process may append, and is told when the database lacks leaves. */
export type AppendGuard = {
  /** The reason why nothing may be appended now. */
  closed(): Refusal | undefined
  /** A transaction found that the log does not begin with `head`. */
  forgot(head: { size: number }, how: string): void
}

const leaseName = 'sequencer'

/** `start` is the place of the current log's first leaf. Numbers have no gaps. */
export function logStore(
  db: Db,
  options: { clock: LeaseTime; node: string; start: number },
): LogStore {
  const { clock, node } = options
  const { runs, unnumberedBatches, priceLists } = db.tables
  const ended = waitingRuns(db)
  const listeners: ((placed: readonly PlacedRun[]) => void)[] = []
  let { start } = options
  /** The frontier this process last wrote; only if it writes alone. */
  let remembered: Frontier | undefined
  const forget = (): void => {
    remembered = undefined
  }
  const findShared = leafCache(db)
  const findDamaged = damagedAmong(db)
  /** The largest head that this process signed, saw or numbered. */
  let known: KnownHead | undefined
  let guard: AppendGuard | undefined
  /** The frontiers written by transactions in progress. */
  const written = new WeakMap<Query, Frontier>()
  /** The runs that these gave places. */
  const numbered = new WeakMap<Query, WaitingReceipt[]>()
  db.onForeignWrite(forget)
  db.onConnectionLost(forget)

  const know = (head: KnownHead): void => {
    if (head.size <= (known?.size ?? 0)) return
    known = { size: head.size, root: head.root, timestamp: head.timestamp }
  }

  /** @throws LogForgot if the stored log does not begin with the known head. */
  function* frontierOf(q: Query): Work<Frontier> {
    if (remembered) return remembered
    const before = yield* readFrontier(db, q, start)
    if (known) yield* assertHolds(db, q, start, before, known)
    return before
  }

  function* appendLeaves(q: Query, leavesFrom: (index: number) => Leaf[]): Work<AppendedLeaf> {
    const closed = guard?.closed()
    if (closed) throw closed
    let before = remembered ?? (yield* frontierOf(q))
    // Until the transaction commits, the frontier is unknown.
    forget()
    // Prices wait for the first leaf, because until then the log can be renamed. Other nodes may
    // add prices at any time.
    if (before.size === 0 || !db.exclusive) before = yield* appendPrices(q, before)
    return yield* write(q, before, leavesFrom(before.size))
  }

  function* write(q: Query, before: Frontier, leaves: Leaf[]): Work<AppendedLeaf> {
    const { stored, frontier } = append(before, leaves)
    for (const leaf of stored) leaf.idx += start
    yield* insert(db.tables.logLeaves, stored)
    yield* writeFact(db, sizeFact, String(frontier.size))
    written.set(q, frontier)
    if (db.exclusive) remembered = frontier
    return { index: before.size, place: start + before.size, frontier }
  }

  /** Logs a price list version before any receipt in the log can name it. */
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

  /**
   * Gives ended runs their places and leaves, in the caller's transaction. False while the log is
   * closed: runs are charged now and numbered later.
   */
  function* appendRuns(q: Query, runs: WaitingReceipt[]): Work<boolean> {
    if (guard?.closed()) return false
    const { place } = yield* appendLeaves(q, () =>
      runs.map(({ id, digest }) => ({ kind: leafKinds.receipt, digest, runId: id })),
    )
    for (const [i, run] of runs.entries()) run.logPlace = place + i
    return true
  }

  function* numberSome(q: Query, most: number): Work<number> {
    if (guard?.closed()) return 0
    const { endedAt, id } = unnumberedBatches
    const listed = q.select().from(unnumberedBatches).orderBy(asc(endedAt), asc(id))
    const batches = upTo(most, yield* rows(listed.limit(most)))
    const ids = batches.flatMap((batch) => batch.runs)
    if (ids.length === 0) return 0
    const waiting = yield* ended.find(ids)
    if (new Set(waiting.map((run) => run.id)).size < waiting.length)
      throw new Error('a run would get two places in the log')
    // A connection may have been lost since this began: they wait on.
    if (!(yield* appendRuns(q, waiting))) return 0
    numbered.set(q, [...(numbered.get(q) ?? []), ...waiting])
    yield* remove(unnumberedBatches, batches)
    // Elsewhere the leaf alone holds the place.
    if (db.exclusive) yield* update(runs, waiting, ['logPlace'])
    return waiting.length
  }

  /** Runs work in a transaction and resets the cached frontier if it fails. */
  async function inTransaction<T>(work: (q: Query) => Work<T>): Promise<T> {
    const startedAt = start
    let made: Frontier | undefined
    let placed: WaitingReceipt[] = []
    try {
      const value = await db.write(function* (q) {
        written.delete(q)
        numbered.delete(q)
        const value = yield* work(q)
        made = written.get(q)
        placed = numbered.get(q) ?? []
        return value
      })
      ended.drop(placed)
      for (const listener of listeners) listener(placed)
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
      while ((yield* numberSome(q, 1000)) >= 1000);
    },
    *appendPrices() {
      // Waiting prices are logged together with the next leaf.
      if (guard?.closed()) return
      const before = yield* frontierOf(q)
      if (before.size === 0) return
      forget()
      yield* appendPrices(q, before)
    },
    *startNext(leaf) {
      start += (yield* frontierOf(q)).size
      known = undefined
      forget()
      const { frontier } = yield* write(q, emptyFrontier, [leaf])
      // Receipts of the new log may name any of them.
      yield* rows(q.update(priceLists).set({ logPlace: null }).returning())
      yield* appendPrices(q, frontier)
      return start
    },
  })

  return {
    takeLease: () => takeLease(db, clock, leaseName, node),
    tellHolder: async () => db.notices?.tell('ended'),
    number: (lease, most) =>
      inTransaction(function* (q) {
        yield* assertLease(db, lease, clock.now())
        return yield* numberSome(q, most)
      }),
    note: ended.note,
    onNumbered: (listener) => void listeners.push(listener),
    numbering: {
      number: appendRuns,
      forget,
    },
    change: (work) => inTransaction((q) => work(q, appending(q))),
    size: async () => Number((await findFact(db, sizeFact)) ?? 0),
    hashes: (log, places) =>
      db.read(function* (q) {
        const homes = [...new Set(places.map((place) => log.start + homeOf(place)))]
        return hashesIn(yield* findShared(q, homes), log.start)
      }),
    damaged: (log, places) => db.read((q) => findDamaged(q, log, places)),
    guardBy: (by) => {
      guard = by
    },
    know,
    known: () => known,
    faultOf: (head) => db.read((q) => faultOfHead(db, q, start, head)),
  }
}
