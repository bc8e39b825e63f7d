import { afterAll, beforeAll, describe, test } from 'bun:test'
import { openPostgres } from '../../../src/storage/db/engine/postgres.ts'
import { type EmptyDatabase, emptyDatabase, postgresServer } from '../../support/postgres.ts'
import { until } from '../../support/runs.ts'

describe.skipIf(!postgresServer)('what two processes on one PostgreSQL tell each other', () => {
  let database: EmptyDatabase
  let one: ReturnType<typeof openPostgres>
  let two: ReturnType<typeof openPostgres>
  beforeAll(async () => {
    database = await emptyDatabase()
    one = openPostgres(database.url)
    two = openPostgres(database.url)
  }, 30_000)
  afterAll(async () => {
    await one?.close()
    await two?.close()
    await database?.drop()
  }, 30_000)

  test('arrives, also after the connections broke; telling never fails', async () => {
    const heard: string[] = []
    await two.notices?.hear((notice) => void heard.push(notice))
    await one.notices?.tell('cancel')
    await until('the news', () => heard.includes('cancel'), 30_000)
    await database.sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = ${database.name} and pid <> pg_backend_pid()`
    await until(
      'news over a new connection',
      async () => {
        await one.notices?.tell('ended')
        await Bun.sleep(50)
        return heard.includes('ended')
      },
      60_000,
    )
  }, 120_000)
})
