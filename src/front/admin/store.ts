/** The SQL of operator views across accounts, always one page along an index. */
import { and, asc, desc, eq, exists, gt, gte, inArray, isNull, lt, not, sql } from 'drizzle-orm'
import { type Page, type PageRequest, toPage } from '../../kernel/pagination.ts'
import type { Db } from '../../storage/db/engine/db.ts'
import type {
  AccountRow,
  AuditRow,
  DepositRow,
  PriceListRow,
} from '../../storage/db/schema/schema.ts'
import { first, insert, type Query, rows } from '../../storage/db/sql/query-steps.ts'
import { withHolds } from '../../storage/holds/open-runs.ts'

export type AdminStore = DepositLists & {
  /** Ordered by address; `prefix` is in lower case, `after` an address. */
  accounts(page: PageRequest & { prefix: string }): Promise<Page<AccountRow>>
  /** Newest first, of all accounts or one; `after` is an entry's id. */
  audit(page: PageRequest & { account: string | undefined }): Promise<Page<AuditRow>>
  note(entry: AuditRow): Promise<void>
  /** A version of the prices; `logPlace` is null until it is in the log. */
  priceList(
    named: Pick<PriceListRow, 'id' | 'version'>,
  ): Promise<Pick<PriceListRow, 'createdAt' | 'logPlace'> | undefined>
  /** Those that stored most without paying on a day since the epoch, the largest first. */
  writers(day: number, limit: number): Promise<AccountRow[]>
  /** Number of an account's keys, and of those not revoked; counts at most `most`. */
  keyCount(account: string, most: number): Promise<{ all: number; open: number }>
}

type DepositLists = {
  /** How many of the newest deposits `ignoredDeposits` and `unassignedDeposits` search. */
  lookedThrough: number
  /** Of all accounts, newest first; `after` is a deposit's id. */
  deposits(page: PageRequest): Promise<Page<DepositRow>>
  /** Deposits not credited yet, oldest blocks first. */
  waitingDeposits(limit: number): Promise<Page<DepositRow>>
  /** Among the newest, those that will never be credited. */
  ignoredDeposits(limit: number): Promise<Page<DepositRow>>
  /** Among the newest, those whose sender has neither a key nor a session here. */
  unassignedDeposits(limit: number): Promise<Page<DepositRow>>
}

/** Number of newest deposits searched for ignored or unassigned ones. */
const lookedThrough = 2000

export function adminStore(db: Db): AdminStore {
  const { accounts, auditEntries, keys, priceLists } = db.tables
  return {
    accounts: ({ prefix, limit, after }) =>
      db.read(function* (q) {
        const { id } = accounts
        // "g" sorts after every hexadecimal digit.
        const within = and(gte(id, prefix), lt(id, `${prefix}g`))
        const behind = after === undefined ? undefined : gt(id, after)
        const listed = q.select().from(accounts).where(and(within, behind)).orderBy(asc(id))
        const found = yield* rows(listed.limit(limit + 1))
        return toPage(
          found.map((row) => withHolds(db.open, row)),
          limit,
        )
      }),
    audit: ({ account, limit, after }) =>
      db.read(function* (q) {
        const { id, accountId } = auditEntries
        // Ids of actions begin with their time; those of one-time notes do not.
        const actions = and(gte(id, 'req_'), lt(id, after ?? 'req`'))
        const whose = account === undefined ? undefined : eq(accountId, account)
        const listed = q.select().from(auditEntries).where(and(actions, whose)).orderBy(desc(id))
        return toPage(yield* rows(listed.limit(limit + 1)), limit)
      }),
    note: (entry) => db.write(() => insert(auditEntries, [entry])),
    priceList: ({ id, version }) =>
      db.read((q) => {
        const named = and(eq(priceLists.id, id), eq(priceLists.version, version))
        const { createdAt, logPlace } = priceLists
        return first(q.select({ createdAt, logPlace }).from(priceLists).where(named))
      }),
    writers: (day, limit) =>
      db.read((q) =>
        rows(
          q
            .select()
            .from(accounts)
            .where(eq(accounts.freeDay, day))
            .orderBy(desc(accounts.freeBytes), asc(accounts.id))
            .limit(limit),
        ),
      ),
    keyCount: (account, most) =>
      db.read(function* (q) {
        const { revokedAt } = keys
        const own = q.select({ revokedAt }).from(keys).where(eq(keys.accountId, account))
        const found = yield* rows(own.limit(most))
        return { all: found.length, open: found.filter((key) => key.revokedAt === null).length }
      }),
    ...depositLists(db),
  }
}

function depositLists(db: Db): DepositLists {
  const { deposits, keys, sessions } = db.tables
  const { id, account, from, status } = deposits
  /** The newest deposits, to search among. */
  const lately = (q: Query) =>
    q.select({ id }).from(deposits).orderBy(desc(id)).limit(lookedThrough).as('lately')
  return {
    lookedThrough,
    deposits: ({ limit, after }) =>
      db.read(function* (q) {
        const behind = after === undefined ? undefined : lt(id, after)
        const listed = q.select().from(deposits).where(behind).orderBy(desc(id))
        return toPage(yield* rows(listed.limit(limit + 1)), limit)
      }),
    waitingDeposits: (limit) =>
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
    ignoredDeposits: (limit) =>
      db.read(function* (q) {
        const near = lately(q)
        const found = q.select({ id }).from(deposits).innerJoin(near, eq(near.id, id))
        const ids = found.where(sql`${status} || '' = 'ignored'`)
        const listed = q.select().from(deposits).where(inArray(id, ids)).orderBy(desc(id))
        return toPage(yield* rows(listed.limit(limit + 1)), limit)
      }),
    unassignedDeposits: (limit) =>
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
