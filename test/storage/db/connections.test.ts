import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { systemClock } from '../../../src/kernel/clock.ts'
import { openPostgres } from '../../../src/storage/db/engine/postgres.ts'
import { timedDb } from '../../../src/storage/db/engine/timed.ts'
import { type EmptyDatabase, emptyDatabase, postgresServer } from '../../support/postgres.ts'
import { promise } from '../../support/promise.ts'
import { until } from '../../support/runs.ts'

describe.skipIf(!postgresServer)('connections to a PostgreSQL server', () => {
  let database: EmptyDatabase
  beforeAll(async () => {
    database = await emptyDatabase()
  }, 30_000)
  afterAll(() => database?.drop(), 30_000)

  const cut = () => database.sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = ${database.name} and pid <> pg_backend_pid()`

  promise`K21`
  test('a connection that breaks is told to every listener, an orderly close is not', async () => {
    const opened = openPostgres(database.url)
    const db = timedDb(opened, systemClock, () => {})
    let [first, second] = [0, 0]
    db.onConnectionLost(() => first++)
    db.onConnectionLost(() => second++)
    await opened.drizzle.execute(sql`select 1`)
    expect([first, second]).toEqual([0, 0])
    const { length } = await cut()
    expect(length).toBeGreaterThan(0)
    await until('each break to be told', () => first >= length && second === first, 10_000)
    await opened.drizzle.execute(sql`select 1`)
    await db.close()
    await Bun.sleep(50)
    expect([first, second]).toEqual([length, length])
  }, 60_000)
})
