/** SQL of {@link Deposits}. */

import { and, asc, desc, eq, gt, gte, inArray, lt, lte, not, or, sql } from 'drizzle-orm'
import { chainId } from '../../kernel/chain.ts'
import { toPage } from '../../kernel/pagination.ts'
import type { Shard } from '../../kernel/shard.ts'
import type { Db } from '../../storage/db/engine/db.ts'
import {
  assertLease,
  type Lease,
  type LeaseTime,
  takeLease,
} from '../../storage/db/engine/lease.ts'
import type { DepositRow } from '../../storage/db/schema/schema.ts'
import { ensureFact, findFact, lockFact, writeFact } from '../../storage/db/sql/facts.ts'
import { first, insert, type Query, rows, type Work } from '../../storage/db/sql/query-steps.ts'
import { addEvents } from '../../storage/outbox/store.ts'
import { misplaced } from '../../storage/slots/store/owners.ts'
import { depositEvent } from './credit-deposit.ts'
import type {
  DepositChanges,
  DepositProgress,
  DepositReads,
  Deposits,
  DepositTotals,
} from './deposits.ts'

const leaseName = 'deposits'
const cursorFact = 'deposits.cursor'
const rescanFact = 'deposits.rescan_from'
const codeFact = (token: string): string => `deposits.code/${token}`

type Needs = { clock: LeaseTime; node: string; shard?: Shard | undefined }

export function depositStore(db: Db, deps: Needs): Deposits {
  const { clock } = deps
  return {
    ...progress(db, deps),
    ...depositReads(db),
    ...depositTotals(db),
    ...depositChanges(db, clock, deps.shard),
  }
}

function progress(db: Db, { clock, node, shard }: Needs): DepositProgress {
  const numberOf = async (fact: string): Promise<number | undefined> => {
    const text = await findFact(db, fact)
    return text ? Number(text) : undefined
  }
  const { deposits } = db.tables
  return {
    takeLease: () => takeLease(db, clock, leaseName, node),
    ensureCode: (token, hash) => ensureFact(db, codeFact(token), hash),
    cursor: () => numberOf(cursorFact),
    rescanFrom: () => numberOf(rescanFact),
    wantRescan: (from) =>
      db.write(function* () {
        const wanted = Number((yield* lockFact(db, rescanFact)) || from)
        yield* writeFact(db, rescanFact, String(Math.min(wanted, from)))
      }),
    record: (lease, found, reached) =>
      db.write(function* (q) {
        yield* assertLease(db, lease, clock.now())
        yield* insert(deposits, yield* credited(db, q, shard, found))
        if (!reached) return
        yield* writeFact(db, cursorFact, String(reached.cursor))
        if (reached.rescan) yield* keepRescan(db, reached.rescan)
      }),
  }
}

/** Stores the progress of a rescan, unless an earlier block was requested meanwhile. */
function* keepRescan(db: Db, rescan: { was: number; next: number | undefined }) {
  const wanted = yield* lockFact(db, rescanFact)
  if (wanted === String(rescan.was)) yield* writeFact(db, rescanFact, String(rescan.next ?? ''))
}

function depositReads(db: Db): DepositReads {
  const { deposits } = db.tables
  const isCredited = eq(deposits.status, 'credited')
  // Written as in the index: with parameters SQLite would not use it.
  const isOpen = sql`${deposits.status} in ('detected', 'confirming', 'credited')`
  return {
    find: (id) => db.read((q) => first(q.select().from(deposits).where(eq(deposits.id, id)))),
    ofTxs: (hashes) =>
      db.read((q) => {
        const here = eq(deposits.chainId, chainId)
        const named = and(here, inArray(deposits.txHash, [...hashes]))
        return rows(q.select().from(deposits).where(named).orderBy(asc(deposits.logIndex)))
      }),
    openIn: ({ from, to }) =>
      db.read((q) => {
        const within = and(gte(deposits.blockNumber, from), lte(deposits.blockNumber, to))
        return rows(q.select().from(deposits).where(and(within, isOpen)))
      }),
    due: (finalized, limit, after) =>
      db.read((q) => {
        const { blockNumber, id } = deposits
        const open = and(isOpen, or(not(isCredited), lte(blockNumber, finalized)))
        const behind = after
          ? or(
              gt(blockNumber, after.blockNumber),
              and(eq(blockNumber, after.blockNumber), gt(id, after.id)),
            )
          : undefined
        const found = q.select().from(deposits).where(and(open, behind))
        return rows(found.orderBy(asc(blockNumber), asc(id)).limit(limit))
      }),
    creditedOn: (account, day) =>
      db.read(function* (q) {
        const total = sql<string>`cast(coalesce(sum(${deposits.amount}), 0) as text)`
        const that = and(
          eq(deposits.account, account),
          inArray(deposits.status, ['credited', 'finalized']),
          gte(deposits.blockTime, day),
          lt(deposits.blockTime, day + 86_400_000),
        )
        const found = yield* first(q.select({ total }).from(deposits).where(that))
        return BigInt(found?.total ?? 0)
      }),
    list: (account, page) =>
      db.read(function* (q) {
        const own = eq(deposits.account, account)
        const after = page.after === undefined ? undefined : lt(deposits.id, page.after)
        const listed = q.select().from(deposits).where(and(own, after)).orderBy(desc(deposits.id))
        return toPage(yield* rows(listed.limit(page.limit + 1)), page.limit)
      }),
  }
}

function depositTotals(db: Db): DepositTotals {
  const { deposits } = db.tables
  return {
    totals: () =>
      db.read((q) => {
        const total = sql<string>`cast(coalesce(sum(${deposits.amount}), 0) as text)`
        const count = sql<number>`cast(count(*) as integer)`.mapWith(Number)
        const { status } = deposits
        return rows(q.select({ status, count, total }).from(deposits).groupBy(status))
      }),
    newest: (limit) =>
      db.read((q) => rows(q.select().from(deposits).orderBy(desc(deposits.id)).limit(limit))),
  }
}

/** Each shard sees all transfers, and credits those of its own accounts. */
const ofOtherShard = { status: 'ignored', reason: 'other_shard' } as const

/**
 * Marks deposits of other shards as ignored. A slot that moves does so before or after this
 * transaction, never beside it.
 */
function* credited(
  db: Db,
  q: Query,
  shard: Shard | undefined,
  found: DepositRow[],
): Work<DepositRow[]> {
  if (!shard || found.length === 0) return found
  const senders = found.map(({ from }) => from)
  const others = yield* misplaced(db, q, shard, senders)
  // A deposit that is leaving goes with its slot as it is.
  const isOurs = ({ from }: DepositRow) => (others.get(from) ?? 'leaving') === 'leaving'
  return found.map((row) => (isOurs(row) ? row : { ...row, ...ofOtherShard }))
}

function depositChanges(db: Db, clock: LeaseTime, shard: Shard | undefined): DepositChanges {
  const { deposits } = db.tables
  const asSeen = (row: DepositRow) =>
    and(
      eq(deposits.id, row.id),
      eq(deposits.status, row.status),
      eq(deposits.blockHash, row.blockHash),
    )
  /** Changes a row unless it changed since it was read. */
  const changeSame = (lease: Lease, row: DepositRow, change: Partial<DepositRow>): Promise<void> =>
    db.write(function* (q) {
      yield* assertLease(db, lease, clock.now())
      yield* rows(q.update(deposits).set(change).where(asSeen(row)).returning())
    })
  return {
    confirm: (lease, row) => changeSame(lease, row, { status: 'confirming' }),
    holdBack: (lease, row, reason) => changeSame(lease, row, { status: 'confirming', reason }),
    finalize: (lease, credited) =>
      db.write(function* (q) {
        yield* assertLease(db, lease, clock.now())
        const named = inArray(
          deposits.id,
          credited.map(({ id }) => id),
        )
        const still = and(named, eq(deposits.status, 'credited'))
        const now = clock.now()
        const final = { status: 'finalized', finalizedAt: now } as const
        const changed = yield* rows(q.update(deposits).set(final).where(still).returning())
        const told = changed.map((row) => depositEvent('deposit.finalized', row))
        yield* addEvents(db.tables, told, now)
      }),
    orphan: (lease, row) => changeSame(lease, row, { status: 'orphaned', reason: null }),
    replace: (lease, moved, found) =>
      db.write(function* (q) {
        yield* assertLease(db, lease, clock.now())
        for (const { row, place } of moved) {
          yield* rows(q.update(deposits).set(place).where(asSeen(row)).returning())
        }
        yield* insert(deposits, yield* credited(db, q, shard, found))
      }),
  }
}
