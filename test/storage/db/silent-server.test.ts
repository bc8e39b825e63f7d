import { describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { StorageFault } from '../../../src/kernel/storage-fault.ts'
import type { Db } from '../../../src/storage/db/engine/db.ts'
import { openPostgres } from '../../../src/storage/db/engine/postgres.ts'
import { migratePostgres } from '../../../src/storage/db/schema/migrate.ts'
import { first, lockFound, rows, update } from '../../../src/storage/db/sql/query-steps.ts'
import { type EmptyDatabase, emptyDatabase, postgresServer } from '../../support/postgres.ts'
import { promise } from '../../support/promise.ts'
import { until } from '../../support/runs.ts'
import { type SilentProxy, startSilentProxy, targetOf } from '../../support/silent-proxy.ts'

promise`K21`
// Each waits for the ten seconds that a statement has, on a database of its own: all at once.
describe.skipIf(!postgresServer)('a PostgreSQL server behind a network that drops packets', () => {
  test.concurrent(
    'fails every statement within 12 s, later ones at once, and is used again by itself',
    () =>
      onServer(async ({ db, proxy }) => {
        let lost = 0
        db.onConnectionLost(() => lost++)
        await addAccount(db, 'a')
        proxy.vanish()
        const asked = [read(db), addAccount(db, 'b'), audit(db, 0)].map(outcomeOf)
        for (const { fault, ms } of await Promise.all(asked)) {
          expect(fault.reason).toBe('storage_unreachable')
          expect(ms).toBeLessThan(12_000)
          expect(fault.toRefusal().detail.headers).toMatchObject({ 'retry-after': '5' })
        }
        for (let i = 0; i < 20; i++) expect((await outcomeOf(read(db))).ms).toBeLessThan(100)
        expect(db.storage?.trouble()?.reason).toBe('storage_unreachable')
        expect(lost).toBeGreaterThan(0)
        const before = lost
        proxy.comeBack()
        await until(
          'an answer',
          () =>
            read(db).then(
              () => true,
              () => undefined,
            ),
          6000,
        )
        expect(lost).toBeGreaterThan(before)
        expect(db.storage?.trouble()).toBeUndefined()
        await addAccount(db, 'b')
      }),
    60_000,
  )

  test.concurrent(
    'A transaction is given up whole: its locks are free again and none of its rows is stored.',
    () =>
      onServer(async ({ db, proxy }) => {
        await addAccount(db, 'a')
        proxy.vanishAt('COMMIT', false)
        const { fault } = await outcomeOf(suspend(db, 'a'))
        expect([fault.reason, fault.options.doubt]).toEqual(['storage_unreachable', true])
        proxy.comeBack()
        // The server still has the transaction open, until its time inside one is over.
        await until(
          'the lock to be free',
          () =>
            suspend(db, 'a').then(
              () => true,
              () => undefined,
            ),
          30_000,
        )
      }),
    60_000,
  )

  test.concurrent(
    'leaves a COMMIT in doubt whose answer was lost, and says so',
    () =>
      onServer(async ({ db, proxy, database }) => {
        await addAccount(db, 'a')
        proxy.vanishAt('COMMIT', true)
        const { fault } = await outcomeOf(suspend(db, 'a'))
        expect([fault.reason, fault.options.doubt]).toEqual(['storage_unreachable', true])
        expect(fault.message).toContain('may have been stored and charged')
        expect(db.storage?.trouble()?.message).toContain('Nothing was stored or charged')
        const [row] = await database.sql`select status from accounts where id = 'a'`
        expect(row.status).toBe('suspended')
      }),
    60_000,
  )
})

promise`K21`
describe.skipIf(!postgresServer)('a PostgreSQL server that answers slowly', () => {
  test.concurrent(
    'loses the statement that takes too long, and no other: not an audit, not its neighbours',
    () =>
      onServer(async ({ db }) => {
        const auditing = audit(db, 13)
        const slow = outcomeOf(db.read((q) => rows(q.select({ it: sql`pg_sleep(30)` }).from(one))))
        let answered = 0
        let isOver = false
        const neighbours = (async () => {
          while (!isOver) {
            await read(db)
            answered++
            await Bun.sleep(20)
          }
        })()
        const { fault, ms } = await slow
        expect([fault.reason, fault.code]).toEqual(['storage_busy', 'LATE'])
        expect(ms).toBeLessThan(12_000)
        await auditing
        isOver = true
        await neighbours
        expect(answered).toBeGreaterThan(100)
        expect(db.storage?.trouble()).toBeUndefined()
      }),
    60_000,
  )

  test.concurrent(
    'ends a write that waits for a lock before this process gives it up',
    () =>
      onServer(async ({ db, database }) => {
        await addAccount(db, 'a')
        const held = await database.sql.reserve()
        await held`begin`
        await held`select 1 from accounts where id = 'a' for update`
        const { fault, ms } = await outcomeOf(suspend(db, 'a'))
        expect([fault.reason, fault.code]).toEqual(['storage_busy', '57014'])
        expect(ms).toBeLessThan(12_000)
        await held`rollback`
        held.release()
        await suspend(db, 'a')
      }),
    60_000,
  )
})

type Served = { database: EmptyDatabase; proxy: SilentProxy; db: ReturnType<typeof openPostgres> }

/** Runs a test on an empty database behind a network that the test can silence. */
async function onServer(run: (served: Served) => Promise<void>): Promise<void> {
  const database = await emptyDatabase()
  const proxy = startSilentProxy(targetOf(database.url))
  const db = openPostgres(proxy.urlOf(database.url))
  try {
    await migratePostgres(db.drizzle, 0)
    await run({ database, proxy, db })
  } finally {
    await db.close()
    proxy.stop()
    await database.drop()
  }
}

/** A table of one row. */
const one = sql`(select 1) as one`

const read = (db: Db) => db.read((q) => first(q.select({ it: sql`1` }).from(one)))

/** Reads on one unmoving picture, the last statement for so many seconds. */
const audit = (db: Db, seconds: number) =>
  db.snapshot(function* (q) {
    yield* rows(q.select({ it: sql`1` }).from(one))
    yield* rows(q.select({ it: sql`pg_sleep(${seconds})` }).from(one))
  })

function addAccount(db: Db, id: string) {
  const { accounts } = db.tables
  const row = { id, balance: 0n, held: 0n, status: 'active' as const, createdAt: 0 }
  return db.write((q) => rows(q.insert(accounts).values(row).onConflictDoNothing().returning()))
}

const suspend = ({ tables: { accounts }, ...db }: Db, id: string) =>
  db.write(function* () {
    yield* lockFound(accounts, { id: [id] })
    yield* update(accounts, [{ id, status: 'suspended' }], ['status'])
  })

/** The fault that something fails with, and how long it took. */
async function outcomeOf(work: Promise<unknown>): Promise<{ fault: StorageFault; ms: number }> {
  const startedAt = performance.now()
  const fault = await work.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!(fault instanceof StorageFault)) throw new Error(`no fault of storage: ${fault}`)
  return { fault, ms: performance.now() - startedAt }
}
