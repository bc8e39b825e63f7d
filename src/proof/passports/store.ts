/** Stores passports, claims their handles and writes their changes. */
import { and, count, eq, isNull, lte, ne } from 'drizzle-orm'
import type { Db } from '../../storage/db/engine/db.ts'
import type {
  AuditRow,
  IdempotentRow,
  KeyRow,
  PassportRow,
} from '../../storage/db/schema/schema.ts'
import {
  first,
  insert,
  lockedRows,
  type Query,
  rows,
  update,
  type Work,
} from '../../storage/db/sql/query-steps.ts'
import type { LogStore } from '../log/store.ts'
import { type PassportLists, passportLists } from './store/passport-list.ts'
import { type PublicReceipts, publicReceiptsOf } from './store/public.ts'
import { type Standing, standingQueries } from './store/standing.ts'
import { type StatementStore, statementStore } from './store/statement.ts'

export type PassportStore = PassportLists &
  PublicReceipts &
  StatementStore & {
    find(handle: string): Promise<PassportRow | undefined>
    /** A passport with its record. */
    stand(handle: string): Promise<Standing | undefined>
    findId(id: string): Promise<PassportRow | undefined>
    /** Creates a passport. Of concurrent claims of look-alike handles, one succeeds. */
    claim(claim: Claim): Promise<HandleClaim>
    /** Locks a passport and stores what `decide` returns, with its audit row. */
    change(handle: string, decide: (row: PassportRow) => PassportUpdate): Promise<PassportRow>
    /** The keys of an account that are bound to a passport and not revoked. */
    boundKeys(account: string): Promise<KeyRow[]>
  }

/** A passport to create; the first claim of a skeleton wins. */
export type Claim = {
  row: PassportRow
  skeleton: string
  audit: AuditRow
  most: number
  /** The call that asks for it, with its answer, where it came with an Idempotency-Key. */
  call: IdempotentRow | undefined
}

/** The result of a claim; `by` is the handle that holds the skeleton already. */
export type HandleClaim =
  | { is: 'made' }
  | { is: 'taken'; by: string }
  | { is: 'too many' }
  /** An earlier call has the same Idempotency-Key. */
  | { is: 'asked'; known: IdempotentRow }

/** The changed row and its audit entry; undefined changes nothing. */
export type PassportUpdate = { row: PassportRow; audit: AuditRow } | undefined

/** One fact for each skeleton that was ever claimed, with the handle that has it. Never deleted. */
const skeletonFact = (skeleton: string): string => `passport.look.${skeleton}`

const written: (keyof PassportRow)[] = [
  'displayName',
  'kind',
  'bio',
  'links',
  'status',
  'ownerShown',
  'updatedAt',
  'publishedAt',
  'retiredAt',
]

export function passportStore(db: Db, log: LogStore): PassportStore {
  const { accounts, auditEntries, facts, keys, passports } = db.tables
  const { accountId, handle, id } = passports
  const standings = standingQueries(db)

  const find = (wanted: string): Promise<PassportRow | undefined> =>
    db.read((q) => first(q.select().from(passports).where(eq(handle, wanted))))

  return {
    find,
    ...passportLists(db),
    ...publicReceiptsOf(db),
    ...statementStore(db, log),
    stand: (wanted) => db.read((q) => standings.one(q, wanted)),
    findId: (wanted) => db.read((q) => first(q.select().from(passports).where(eq(id, wanted)))),
    claim: ({ row, skeleton, audit, most, call }) =>
      db.write(function* (q): Work<HandleClaim> {
        // Its account is locked: two claims at once cannot both be its last.
        yield* lockedRows(q.select().from(accounts).where(eq(accounts.id, row.accountId)))
        const known = call && (yield* callBefore(db, q, call))
        if (known) return { is: 'asked', known }
        const own = q.select({ n: count() }).from(passports).where(eq(accountId, row.accountId))
        if (((yield* first(own))?.n ?? 0) >= most) return { is: 'too many' }
        const name = skeletonFact(skeleton)
        const wanted = q.insert(facts).values({ name, value: row.handle }).onConflictDoNothing()
        const [made] = yield* rows(wanted.returning())
        if (!made) {
          const holder = yield* first(q.select().from(facts).where(eq(facts.name, name)))
          return { is: 'taken', by: holder?.value ?? row.handle }
        }
        yield* insert(passports, [row])
        yield* insert(auditEntries, [audit])
        if (call) yield* insert(db.tables.idempotentCalls, [call])
        return { is: 'made' }
      }),
    change: (wanted, decide) =>
      db.write(function* (q): Work<PassportRow> {
        const [row] = yield* lockedRows(q.select().from(passports).where(eq(handle, wanted)))
        if (!row) throw new Error(`there is no passport ${wanted}`)
        const changed = decide(row)
        if (!changed) return row
        yield* update(passports, [changed.row], written)
        yield* insert(auditEntries, [changed.audit])
        return changed.row
      }),
    boundKeys: (account) =>
      db.read((q) => {
        const bound = and(eq(keys.accountId, account), ne(keys.passport, ''))
        return rows(
          q
            .select()
            .from(keys)
            .where(and(bound, isNull(keys.revokedAt)))
            .orderBy(keys.id),
        )
      }),
  }
}

/** A call with the same key that was made and still counts; what ran out makes room. */
function* callBefore(
  { tables: { idempotentCalls: calls } }: Db,
  q: Query,
  { scope, createdAt: now }: IdempotentRow,
): Work<IdempotentRow | undefined> {
  const past = and(eq(calls.scope, scope), lte(calls.until, now))
  yield* rows(q.delete(calls).where(past).returning({ scope: calls.scope }))
  return yield* first(q.select().from(calls).where(eq(calls.scope, scope)))
}
