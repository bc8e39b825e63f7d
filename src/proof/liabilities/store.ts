/** Stores liabilities statements: reads all balances at one moment and logs their tree. */
import { and, asc, desc, eq, gt, gte, isNotNull, lt, type SQL, sql } from 'drizzle-orm'
import type { Millis } from '../../kernel/clock.ts'
import { fromHex } from '../../kernel/hex.ts'
import { type Page, toPage } from '../../kernel/pagination.ts'
import type { Db } from '../../storage/db/engine/db.ts'
import {
  assertLease,
  type Lease,
  type LeaseTime,
  takeLease,
} from '../../storage/db/engine/lease.ts'
import type { LiabilitiesRow, LiabilityPartRow } from '../../storage/db/schema/schema.ts'
import {
  first,
  insert,
  type Query,
  remove,
  rows,
  update,
  type Work,
} from '../../storage/db/sql/query-steps.ts'
import {
  emptyIdOf,
  idOf,
  leafWidth,
  leavesFor,
  writeLeaf,
} from '../../storage/liabilities/leaves.ts'
import { leafKinds } from '../../verify/merkle.ts'
import type { LogStore } from '../log/store.ts'

export type LiabilityStore = {
  takeLease(): Promise<Lease | undefined>
  newest(): Promise<LiabilitiesRow | undefined>
  find(number: number): Promise<LiabilitiesRow | undefined>
  list(page: { limit: number; below: number | undefined }): Promise<Page<LiabilitiesRow>>
  /** The newest whose leaves are there. */
  newestWhole(): Promise<LiabilitiesRow | undefined>
  part(number: number, part: number): Promise<Uint8Array | undefined>
  /**
   * The leaves of all accounts on one snapshot, blinded by a seed and filled up with empty ones, in
   * any order; undefined if there is no account.
   */
  readLeaves(seed: Uint8Array): Promise<Uint8Array | undefined>
  /** Deletes parts of statements that did not come about. @throws LostLease */
  dropDrafts(lease: Lease): Promise<void>
  /** Stores parts that count once their statement is added. @throws LostLease */
  addParts(lease: Lease, parts: LiabilityPartRow[]): Promise<void>
  /** Makes a statement a leaf of the log. @throws LostLease */
  add(lease: Lease, row: Omit<LiabilitiesRow, 'logPlace'>): Promise<LiabilitiesRow>
  /** Deletes leaves and seeds of statements of before; the statements stay. */
  dropLeaves(before: Millis): Promise<void>
}

/** Accounts read in one step, each with three hashes: about 2 ms. */
const pageAccounts = 400
/** Parts deleted in one transaction: runs that end wait for it. */
const dropBatch = 64

export function liabilityStore(
  db: Db,
  log: LogStore,
  { clock, node }: { clock: LeaseTime; node: string },
): LiabilityStore {
  const { accounts, liabilities, liabilityParts: parts } = db.tables
  const newestFirst = (q: Query) => q.select().from(liabilities).orderBy(desc(liabilities.number))

  function* readNewest(q: Query): Work<LiabilitiesRow | undefined> {
    return yield* first(newestFirst(q).limit(1))
  }

  function* writeBalances(q: Query, leaves: Uint8Array, seed: Uint8Array): Work<number> {
    const { id, balance, moves } = accounts
    let last = ''
    let count = 0
    for (;;) {
      const some = q.select({ id, balance, moves }).from(accounts).where(gt(id, last))
      const page = yield* rows(some.orderBy(asc(id)).limit(pageAccounts))
      for (const account of page) {
        const leaf = { amount: account.balance, moves: account.moves }
        writeLeaf(leaves, count++, { id: idOf(seed, account.id), ...leaf })
      }
      last = page.at(-1)?.id ?? last
      if (page.length < pageAccounts) return count
    }
  }

  /** Deletes parts of some numbers, a batch at a time, while `lease` holds if there is one. */
  async function dropParts(where: SQL, lease?: Lease): Promise<void> {
    const drop = () =>
      db.write(function* (q) {
        if (lease) yield* assertLease(db, lease, clock.now())
        const { number, part } = parts
        const due = yield* rows(
          q.select({ number, part }).from(parts).where(where).limit(dropBatch),
        )
        yield* remove(parts, due)
        return due.length
      })
    while ((await drop()) === dropBatch);
  }

  return {
    takeLease: () => takeLease(db, clock, 'liabilities', node),
    newest: () => db.read(readNewest),
    find: (number) =>
      db.read((q) => first(q.select().from(liabilities).where(eq(liabilities.number, number)))),
    list: ({ limit, below }) =>
      db.read(function* (q) {
        const older = below === undefined ? undefined : lt(liabilities.number, below)
        return toPage(
          yield* rows(
            newestFirst(q)
              .where(older)
              .limit(limit + 1),
          ),
          limit,
        )
      }),
    newestWhole: () =>
      db.read((q) => first(newestFirst(q).where(isNotNull(liabilities.seed)).limit(1))),
    part: (number, part) =>
      db.read(function* (q) {
        const named = and(eq(parts.number, number), eq(parts.part, part))
        return (yield* first(q.select().from(parts).where(named)))?.bytes
      }),
    readLeaves: (seed) =>
      db.snapshot(function* (q) {
        const n = sql<number>`cast(count(*) as integer)`
        const counted = Number((yield* first(q.select({ n }).from(accounts)))?.n ?? 0)
        if (counted === 0) return undefined
        const leaves = new Uint8Array(leavesFor(counted) * leafWidth)
        let filled = yield* writeBalances(q, leaves, seed)
        if (filled !== counted) throw new Error('a snapshot changed while it was read')
        for (; filled * leafWidth < leaves.length; filled++) {
          writeLeaf(leaves, filled, { id: emptyIdOf(seed, filled), amount: 0n, moves: 0 })
        }
        return leaves
      }),
    dropDrafts: async (lease) => {
      const newest = await db.read(readNewest)
      await dropParts(gte(parts.number, (newest?.number ?? 0) + 1), lease)
    },
    addParts: (lease, added) =>
      db.write(function* () {
        yield* assertLease(db, lease, clock.now())
        yield* insert(parts, added)
      }),
    add: (lease, row) =>
      log.change(function* (_q, { append }) {
        yield* assertLease(db, lease, clock.now())
        const digest = fromHex(row.digest)
        const { place } = yield* append(() => [{ kind: leafKinds.liabilities, digest }])
        const made = { ...row, logPlace: place }
        yield* insert(liabilities, [made])
        return made
      }),
    dropLeaves: async (before) => {
      const { number, asOf, seed } = liabilities
      const past = await db.read((q) =>
        rows(
          q
            .select({ number })
            .from(liabilities)
            .where(and(lt(asOf, before), isNotNull(seed))),
        ),
      )
      for (const one of past) {
        await dropParts(eq(parts.number, one.number))
        await db.write(() => update(liabilities, [{ ...one, seed: null }], ['seed']))
      }
    },
  }
}
