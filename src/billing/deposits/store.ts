import { and, asc, desc, eq, gt, gte, inArray, lt, lte, not, or, sql } from 'drizzle-orm'
import { chainId } from '../../kernel/chain.ts'
import type { Millis } from '../../kernel/clock.ts'
import type { Nusd } from '../../kernel/money.ts'
import { type Page, type PageRequest, toPage } from '../../kernel/pagination.ts'
import type { Db } from '../../storage/db/db.ts'
import { ensureFact, findFact, lockFact, writeFact } from '../../storage/db/facts.ts'
import { assertLease, type Lease, type LeaseTime, takeLease } from '../../storage/db/lease.ts'
import { first, insert, type Query, rows } from '../../storage/db/query-steps.ts'
import type { DepositRow } from '../../storage/db/schema.ts'

export type DepositStore = ReturnType<typeof depositStore>

const leaseName = 'deposits'
const cursorFact = 'deposits.cursor'
const rescanFact = 'deposits.rescan_from'
const codeFact = (token: string): string => `deposits.code/${token}`

/**
 * How far a look at the chain came: the last block, and where a rescan that runs was and goes on,
 * or that it ended.
 */
export type Reached = {
  cursor: number
  rescan: { was: number; next: number | undefined } | undefined
}

/** What of a deposit the chain can change. */
export type Place = Pick<DepositRow, 'logIndex' | 'blockNumber' | 'blockHash' | 'status'>

/** Deposits as they are found and followed. Their money moves in the ledger alone. */
export function depositStore(db: Db, deps: { clock: LeaseTime; node: string }) {
  const { clock, node } = deps
  return {
    takeLease: (): Promise<Lease | undefined> => takeLease(db, clock, leaseName, node),
    /** The hash of a token's code as it was first seen, and now for ever. */
    settleCode: (token: string, hash: string) => ensureFact(db, codeFact(token), hash),
    ...progress(db, clock),
    ...depositReads(db),
    ...depositTotals(db),
    ...depositChanges(db, clock),
  }
}

function progress(db: Db, clock: LeaseTime) {
  const numberOf = async (fact: string): Promise<number | undefined> => {
    const text = await findFact(db, fact)
    return text ? Number(text) : undefined
  }
  const { deposits } = db.tables
  return {
    /** The last block that was looked at; undefined before the first. */
    cursor: () => numberOf(cursorFact),
    /** Where somebody asked to look again from. */
    rescanFrom: () => numberOf(rescanFact),
    /** Asks the worker to look again from a block on; of two wishes the earlier block counts. */
    wantRescan: (from: number): Promise<void> =>
      db.write(function* (q) {
        const wanted = Number((yield* lockFact(db, q, rescanFact)) || from)
        yield* writeFact(db, rescanFact, String(Math.min(wanted, from)))
      }),
    /** What was never found before, and how far that brings us, in one transaction. */
    record: (lease: Lease, found: DepositRow[], reached?: Reached): Promise<void> =>
      db.write(function* (q) {
        yield* assertLease(db, q, lease, clock.now())
        yield* insert(deposits, found)
        if (!reached) return
        yield* writeFact(db, cursorFact, String(reached.cursor))
        if (reached.rescan) yield* keepRescan(db, q, reached.rescan)
      }),
  }
}

/** How far the rescan came; a wish for an earlier block that came meanwhile stays. */
function* keepRescan(db: Db, q: Query, rescan: { was: number; next: number | undefined }) {
  const wanted = yield* lockFact(db, q, rescanFact)
  if (wanted === String(rescan.was)) yield* writeFact(db, rescanFact, String(rescan.next ?? ''))
}

function depositReads(db: Db) {
  const { deposits } = db.tables
  const isCredited = eq(deposits.status, 'credited')
  // As the index says it: with parameters in it the index would not be used.
  const isOpen = sql`${deposits.status} in ('detected', 'confirming', 'credited')`
  return {
    find: (id: string): Promise<DepositRow | undefined> =>
      db.read((q) => first(q.select().from(deposits).where(eq(deposits.id, id)))),
    /** All of these transactions. */
    ofTxs: (hashes: readonly string[]): Promise<DepositRow[]> =>
      db.read((q) => {
        const here = eq(deposits.chainId, chainId)
        const named = and(here, inArray(deposits.txHash, [...hashes]))
        return rows(q.select().from(deposits).where(named).orderBy(asc(deposits.logIndex)))
      }),
    /** What can still change and is in one of these blocks. */
    openIn: ({ from, to }: { from: number; to: number }): Promise<DepositRow[]> =>
      db.read((q) => {
        const within = and(gte(deposits.blockNumber, from), lte(deposits.blockNumber, to))
        return rows(q.select().from(deposits).where(and(within, isOpen)))
      }),
    /** What waits for its credit, and what is credited in blocks that are final; in their order. */
    due: (finalized: number, limit: number, after?: DepositRow): Promise<DepositRow[]> =>
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
    /** What an account was credited of blocks of one day. */
    creditedOn: (account: string, day: Millis): Promise<Nusd> =>
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
    /** Newest first; `after` is the id of one of them. */
    list: (account: string, page: PageRequest): Promise<Page<DepositRow>> =>
      db.read(function* (q) {
        const own = eq(deposits.account, account)
        const after = page.after === undefined ? undefined : lt(deposits.id, page.after)
        const listed = q.select().from(deposits).where(and(own, after)).orderBy(desc(deposits.id))
        return toPage(yield* rows(listed.limit(page.limit + 1)), page.limit)
      }),
  }
}

function depositTotals(db: Db) {
  const { deposits } = db.tables
  return {
    /** How many there are in each state, of all accounts, and what they come to. */
    totals: (): Promise<{ status: DepositRow['status']; count: number; total: string }[]> =>
      db.read((q) => {
        const total = sql<string>`cast(coalesce(sum(${deposits.amount}), 0) as text)`
        const count = sql<number>`cast(count(*) as integer)`.mapWith(Number)
        const { status } = deposits
        return rows(q.select({ status, count, total }).from(deposits).groupBy(status))
      }),
    /** Those made last, of all accounts. */
    newest: (limit: number): Promise<DepositRow[]> =>
      db.read((q) => rows(q.select().from(deposits).orderBy(desc(deposits.id)).limit(limit))),
  }
}

function depositChanges(db: Db, clock: LeaseTime) {
  const { deposits } = db.tables
  const asSeen = (row: DepositRow) =>
    and(
      eq(deposits.id, row.id),
      eq(deposits.status, row.status),
      eq(deposits.blockHash, row.blockHash),
    )
  /** Changes of one that is still as it was looked at; another's write wins. */
  const changeSame = (lease: Lease, row: DepositRow, change: Partial<DepositRow>): Promise<void> =>
    db.write(function* (q) {
      yield* assertLease(db, q, lease, clock.now())
      yield* rows(q.update(deposits).set(change).where(asSeen(row)).returning())
    })
  return {
    /** It waits for a block that is safe or final. */
    confirm: (lease: Lease, row: DepositRow) => changeSame(lease, row, { status: 'confirming' }),
    /** It waits until a second server agrees. */
    holdBack: (lease: Lease, row: DepositRow, reason: DepositRow['reason']) =>
      changeSame(lease, row, { status: 'confirming', reason }),
    finalize: (lease: Lease, credited: DepositRow[]): Promise<void> =>
      db.write(function* (q) {
        yield* assertLease(db, q, lease, clock.now())
        const named = inArray(
          deposits.id,
          credited.map(({ id }) => id),
        )
        const still = and(named, eq(deposits.status, 'credited'))
        const final = { status: 'finalized', finalizedAt: clock.now() } as const
        yield* rows(q.update(deposits).set(final).where(still).returning())
      }),
    orphan: (lease: Lease, row: DepositRow) =>
      changeSame(lease, row, { status: 'orphaned', reason: null }),
    /** Writes where the transfers of one transaction are after a reorg, and those that are new. */
    replace: (lease: Lease, moved: { row: DepositRow; place: Place }[], found: DepositRow[]) =>
      db.write(function* (q) {
        yield* assertLease(db, q, lease, clock.now())
        for (const { row, place } of moved) {
          yield* rows(q.update(deposits).set(place).where(asSeen(row)).returning())
        }
        yield* insert(deposits, found)
      }),
  }
}
