/** The SQL of operator views across accounts, always one page along an index. */
import { and, asc, desc, eq, exists, gt, gte, inArray, isNull, lt, not, sql } from 'drizzle-orm'
import { type Page, type PageRequest, toPage } from '../../kernel/pagination.ts'
import type { Db } from '../../storage/db/db.ts'
import { first, insert, type Query, rows } from '../../storage/db/query-steps.ts'
import type { AuditRow, DepositRow } from '../../storage/db/schema.ts'

export type AdminStore = ReturnType<typeof adminStore>

/** Number of newest deposits searched for ignored or unassigned ones. */
const lookedThrough = 2000

export function adminStore(db: Db) {
  const { accounts, auditEntries, priceLists } = db.tables
  return {
    /** Ordered by address; `prefix` is in lower case, `after` an address. */
    accounts: ({ prefix, limit, after }: PageRequest & { prefix: string }) =>
      db.read(function* (q) {
        const { id } = accounts
        // "g" sorts after every hexadecimal digit.
        const within = and(gte(id, prefix), lt(id, `${prefix}g`))
        const behind = after === undefined ? undefined : gt(id, after)
        const listed = q.select().from(accounts).where(and(within, behind)).orderBy(asc(id))
        return toPage(yield* rows(listed.limit(limit + 1)), limit)
      }),
    /** Newest first, of all accounts or one; `after` is an entry's id. */
    audit: ({ account, limit, after }: PageRequest & { account: string | undefined }) =>
      db.read(function* (q) {
        const { id, accountId } = auditEntries
        // Ids of actions begin with their time; those of one-time notes do not.
        const actions = and(gte(id, 'req_'), lt(id, after ?? 'req`'))
        const whose = account === undefined ? undefined : eq(accountId, account)
        const listed = q.select().from(auditEntries).where(and(actions, whose)).orderBy(desc(id))
        return toPage(yield* rows(listed.limit(limit + 1)), limit)
      }),
    /** How many of the newest deposits the lists below search. */
    lookedThrough,
    note: (entry: AuditRow): Promise<void> => db.write(() => insert(auditEntries, [entry])),
    /** A version of the prices; `logPlace` is null until it is in the log. */
    priceList: ({ id, version }: { id: string; version: number }) =>
      db.read((q) => {
        const named = and(eq(priceLists.id, id), eq(priceLists.version, version))
        const { createdAt, logPlace } = priceLists
        return first(q.select({ createdAt, logPlace }).from(priceLists).where(named))
      }),
    ...keyCounts(db),
    ...depositLists(db),
  }
}

function keyCounts(db: Db) {
  const { keys } = db.tables
  return {
    /** Number of an account's keys, and of those not revoked; counts at most `most`. */
    keyCount: (account: string, most: number): Promise<{ all: number; open: number }> =>
      db.read(function* (q) {
        const { revokedAt } = keys
        const own = q.select({ revokedAt }).from(keys).where(eq(keys.accountId, account))
        const found = yield* rows(own.limit(most))
        return { all: found.length, open: found.filter((key) => key.revokedAt === null).length }
      }),
  }
}

function depositLists(db: Db) {
  const { deposits, keys, sessions } = db.tables
  const { id, account, from, status } = deposits
  /** The newest deposits, to search among. */
  const lately = (q: Query) =>
    q.select({ id }).from(deposits).orderBy(desc(id)).limit(lookedThrough).as('lately')
  return {
    /** Of all accounts, newest first; `after` is a deposit's id. */
    deposits: ({ limit, after }: PageRequest): Promise<Page<DepositRow>> =>
      db.read(function* (q) {
        const behind = after === undefined ? undefined : lt(id, after)
        const listed = q.select().from(deposits).where(behind).orderBy(desc(id))
        return toPage(yield* rows(listed.limit(limit + 1)), limit)
      }),
    /** Deposits not credited yet, oldest blocks first. */
    waitingDeposits: (limit: number): Promise<Page<DepositRow>> =>
      db.read(function* (q) {
        // The first condition repeats the partial index's own.
        const open = sql`${status} in ('detected', 'confirming', 'credited')`
        const listed = q
          .select()
          .from(deposits)
          .where(and(open, sql`${status} <> 'credited'`))
          .orderBy(asc(deposits.blockNumber), asc(id))
        return toPage(yield* rows(listed.limit(limit + 1)), limit)
      }),
    /** Among the newest, those that will never be credited. */
    ignoredDeposits: (limit: number): Promise<Page<DepositRow>> =>
      db.read(function* (q) {
        const near = lately(q)
        const found = q.select({ id }).from(deposits).innerJoin(near, eq(near.id, id))
        const ids = found.where(sql`${status} || '' = 'ignored'`)
        const listed = q.select().from(deposits).where(inArray(id, ids)).orderBy(desc(id))
        return toPage(yield* rows(listed.limit(limit + 1)), limit)
      }),
    /** Among the newest, those whose sender has neither a key nor a session here. */
    unassignedDeposits: (limit: number): Promise<Page<DepositRow>> =>
      db.read(function* (q) {
        const near = lately(q)
        const aKey = q.select({ id: keys.id }).from(keys).where(eq(keys.accountId, from))
        const aSession = q
          .select({ id: sessions.id })
          .from(sessions)
          .where(eq(sessions.accountId, from))
        const unknown = and(not(exists(aKey)), not(exists(aSession)))
        const still = and(sql`${account} || '' = ${from}`, isNull(deposits.moved))
        const alive = sql`${status} || '' not in ('ignored', 'orphaned', 'reversed')`
        const found = q.select({ id }).from(deposits).innerJoin(near, eq(near.id, id))
        const ids = found.where(and(alive, still, unknown))
        const listed = q.select().from(deposits).where(inArray(id, ids)).orderBy(desc(id))
        return toPage(yield* rows(listed.limit(limit + 1)), limit)
      }),
  }
}
