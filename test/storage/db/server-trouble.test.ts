import { describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { StorageFault } from '../../../src/kernel/storage-fault.ts'
import type { Db } from '../../../src/storage/db/engine/db.ts'
import { openPostgres } from '../../../src/storage/db/engine/postgres.ts'
import { migratePostgres } from '../../../src/storage/db/schema/migrate.ts'
import { first, rows } from '../../../src/storage/db/sql/query-steps.ts'
import { type EmptyDatabase, emptyDatabase, postgresServer } from '../../support/postgres.ts'
import { until } from '../../support/runs.ts'
import { startSilentProxy, targetOf } from '../../support/silent-proxy.ts'

type Opened = { db: Db; database: EmptyDatabase; changes: (string | undefined)[] }

/** Runs on a migrated database of its own, and notes each change of its trouble. */
async function onDatabase(run: (opened: Opened) => Promise<void>): Promise<void> {
  const database = await emptyDatabase()
  const db = openPostgres(database.url)
  const changes: Opened['changes'] = []
  db.storage?.onChange((trouble) => void changes.push(trouble?.reason))
  try {
    await migratePostgres(db.drizzle, 0)
    await run({ db, database, changes })
  } finally {
    await db.close()
    await database.drop()
  }
}

const one = sql`(select 1) as one`
const select = (db: Pick<Db, 'read'>) => db.read((q) => first(q.select({ it: sql`1` }).from(one)))
/** A transaction of a writer that finds nothing to write. */
const idle = (db: Db) => db.write((q) => rows(q.select({ it: sql`1` }).from(one)))

const add = (db: Db, id: string) => {
  const { accounts } = db.tables
  const row = { id, balance: 0n, held: 0n, status: 'active' as const, createdAt: 0 }
  return db.write((q) => rows(q.insert(accounts).values(row).returning()))
}
/** A write to another table, such as those that say that a node lives. */
const renew = (db: Db) => {
  const { leases } = db.tables
  const row = { name: 'test', holder: 'test', epoch: 1, expiresAt: 0 }
  return db.write((q) => rows(q.insert(leases).values(row).onConflictDoNothing().returning()))
}

async function faultOf(work: Promise<unknown>): Promise<{ reason: string; ms: number }> {
  const startedAt = performance.now()
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof StorageFault)) throw new Error(`no fault of storage: ${error}`)
  return { reason: error.reason, ms: performance.now() - startedAt }
}

describe.skipIf(!postgresServer)('trouble of a PostgreSQL server', () => {
  test.concurrent('a dead server behind a balancer is refused at once after the first failure', async () => {
    const database = await emptyDatabase()
    const balancer = startSilentProxy(targetOf(database.url))
    const db = openPostgres(balancer.urlOf(database.url))
    const admin = new Bun.SQL({ url: postgresServer ?? '', max: 1 })
    try {
      const sleeping = db.read((q) => rows(q.select({ it: sql`pg_sleep(20)` }).from(one)))
      const failing = faultOf(sleeping).finally(balancer.vanish)
      await Bun.sleep(500)
      const name = new URL(database.url).pathname.slice(1)
      await admin`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`
      expect((await failing).reason).toBe('storage_unreachable')
      // From here on the balancer takes connections and can pass them to no server.
      const asked = await Promise.all(Array.from({ length: 20 }, () => faultOf(select(db))))
      // The probe that follows a failure waits two seconds.
      for (const { ms } of asked) expect(ms).toBeLessThan(5000)
      // Those that only lost their connection prove no silence: the next one may wait for the probe.
      await until('a refusal at once', async () => (await faultOf(select(db))).ms < 200, 10_000)
      for (let i = 0; i < 10; i++) expect((await faultOf(select(db))).ms).toBeLessThan(200)
      balancer.comeBack()
      const isBack = () => select(db).then(Boolean, () => false)
      await until('an answer', isBack, 6000)
    } finally {
      await db.close()
      balancer.stop()
      await admin.close()
      await database.drop()
    }
  }, 60_000)

  test.concurrent(
    'a table that is locked for 14 s is trouble while other tables take writes, and is over with the lock',
    () =>
      onDatabase(async ({ db, database, changes }) => {
        await add(db, 'a')
        const other = new Bun.SQL({ url: database.url, max: 1 })
        const taken = Promise.withResolvers<void>()
        const locked = other.begin(async (tx) => {
          await tx`lock table accounts in access exclusive mode`
          taken.resolve()
          await Bun.sleep(14_000)
        })
        await taken.promise
        const blocked = faultOf(add(db, 'b'))
        const again = setInterval(() => void renew(db).catch(() => {}), 500)
        try {
          await until('the trouble', () => db.storage?.trouble() !== undefined, 11_000)
          const { reason, code } = db.storage?.trouble() ?? {}
          expect([reason, code]).toEqual(['storage_busy', 'LOCK accounts'])
          expect((await blocked).reason).toBe('storage_busy')
          const waiting = add(db, 'c')
          await locked
          await waiting
          await until('its end', () => db.storage?.trouble() === undefined, 5000)
          expect(changes).toEqual(['storage_busy', undefined])
        } finally {
          clearInterval(again)
          await other.close()
        }
      }),
    60_000,
  )

  test.concurrent(
    'a read-only server is not recovered before a write was stored, not by one that wrote nothing',
    () =>
      onDatabase(async ({ db, database, changes }) => {
        const name = new URL(database.url).pathname.slice(1)
        const admin = new Bun.SQL({ url: postgresServer ?? '', max: 1 })
        await admin.unsafe(`alter database ${name} set default_transaction_read_only = on`)
        await admin`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`
        try {
          await until('the trouble', async () => {
            await add(db, 'a').catch(() => {})
            return db.storage?.trouble()?.reason === 'storage_read_only'
          })
          for (let i = 0; i < 10; i++) {
            expect((await faultOf(idle(db))).reason).toBe('storage_read_only')
            expect((await select(db))?.it).toBeDefined()
            await Bun.sleep(100)
          }
          expect(changes.at(-1)).toBe('storage_read_only')
          await admin.unsafe(`alter database ${name} reset default_transaction_read_only`)
          await until('a write', async () => {
            const stored = await add(db, 'b').catch(() => undefined)
            return stored !== undefined
          })
          expect(db.storage?.trouble()).toBeUndefined()
        } finally {
          await admin.close()
        }
      }),
    60_000,
  )

  test.concurrent(
    'too few connections stop nothing that has one: LISTEN fails, and that is told',
    () =>
      onDatabase(async ({ database }) => {
        const role = `few_${crypto.randomUUID().slice(0, 8)}`
        const admin = new Bun.SQL({ url: postgresServer ?? '', max: 1 })
        await admin.unsafe(`create role ${role} login superuser`)
        const url = new URL(database.url)
        url.username = role
        const name = url.pathname.slice(1)
        await admin.unsafe(`alter role ${role} nosuperuser connection limit 2`)
        await admin.unsafe(`grant all on database ${name} to ${role}`)
        const owner = new Bun.SQL({ url: database.url, max: 1 })
        await owner.unsafe(`grant all on all tables in schema public to ${role}`)
        const db = openPostgres(url.href, 8)
        const changes: (string | undefined)[] = []
        db.storage?.onChange((trouble) => void changes.push(trouble?.reason))
        try {
          const work = (i: number) => add(db, `a${i}`)
          await Promise.all(Array.from({ length: 20 }, (_, i) => work(i)))
          await faultOf(db.notices?.hear(() => {}) ?? Promise.resolve())
          for (let i = 20; i < 60; i++) {
            await work(i)
            await Bun.sleep(50)
          }
          expect(db.storage?.isShort?.()).toBe(true)
          expect(changes).toEqual([])
        } finally {
          await db.close()
          await owner.unsafe(`drop owned by ${role}`)
          await owner.close()
          await admin.unsafe(`drop role ${role}`)
          await admin.close()
        }
      }),
    60_000,
  )
})
