import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { fund, type Home, makeHome, noBinary, type Server } from '../support/binary.ts'
import { freePort } from '../support/free-port.ts'
import { type PgBouncer, pgbouncer, startPgBouncer } from '../support/pgbouncer.ts'
import { type EmptyDatabase, emptyDatabase, postgresServer } from '../support/postgres.ts'
import { promise } from '../support/promise.ts'
import { pricedBuiltins, until } from '../support/runs.ts'
import { faultsIn, untilNumbered } from './nodes.ts'

if (!pgbouncer) console.log('PgBouncer is not installed: its tests are left out')

const run = { model: 'counterfoil/echo-1', input: 'through a pooler' }

describe.skipIf(noBinary || !postgresServer || !pgbouncer)('behind PgBouncer', () => {
  let database: EmptyDatabase
  let home: Home
  let pooler: PgBouncer
  beforeAll(async () => {
    database = await emptyDatabase()
    home = await makeHome()
  }, 30_000)
  afterAll(async () => {
    await home?.remove()
    await pooler?.stop()
    await database?.drop()
  }, 30_000)

  const settings = (url: string) => `database_url = "${url}"\n${pricedBuiltins}`
  const databaseOf = async (server: Server) => (await server.get('/v1/status')).database

  promise`M5 H: Behind a pooler in transaction mode the service works with ?prepare=false, says that
    it polls, and says what to do where prepared statements fail.`
  test('in transaction mode a server with ?prepare=false serves, and says that it polls', async () => {
    pooler = await startPgBouncer({ server: database.url, poolMode: 'transaction' })
    home.configure(settings(pooler.url(database.name, '?prepare=false')))
    const server = await home.start({ port: freePort() })
    const key = await fund(home, '1.00')
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => server.call('/v1/runs', { key, json: run })),
    )
    expect(answers.map(({ status }) => status).filter((status) => status !== 200)).toEqual([])
    await untilNumbered({ database })
    expect(await faultsIn({ database })).toEqual([])
    expect(await databaseOf(server)).toMatchObject({ status: 'ok', notices: 'polling' })
    const said = () => readFileSync(home.printed.stderr, 'utf8')
    await until('the warning', () => said().includes('database.notices_lost'), 20_000)
    expect(said()).not.toContain('"level":"error"')
    expect(await server.stop()).toBe(0)
  }, 120_000)

  promise`M5`
  test('in transaction mode without ?prepare=false a start says what to do', async () => {
    const url = pooler.url(database.name)
    const done = await Promise.all(
      Array.from({ length: 8 }, () => home.cli('key', 'list', '--database-url', url)),
    )
    const failed = done.filter(({ code }) => code !== 0)
    expect(failed.length).toBeGreaterThan(0)
    for (const { code, stderr } of failed) {
      expect({ code, lines: stderr.split('\n').length }).toEqual({ code: 1, lines: 2 })
      expect(stderr).toContain('append ?prepare=false to database_url')
    }
  }, 60_000)

  promise`M5`
  test('in session mode a server listens; on PostgreSQL itself it does again after a lost connection', async () => {
    const session = await startPgBouncer({
      server: database.url,
      poolMode: 'session',
      poolSize: 40,
    })
    const listens = async (server: Server) => (await databaseOf(server)).notices === 'listening'
    try {
      home.configure(settings(session.url(database.name)))
      const server = await home.start({ port: freePort() })
      await until('an echo', () => listens(server), 20_000)
      expect(await server.stop()).toBe(0)
    } finally {
      await session.stop()
    }
    home.configure(settings(database.url))
    const server = await home.start({ port: freePort() })
    await until('an echo', () => listens(server), 20_000)
    await database.sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = ${database.name} and pid <> pg_backend_pid()`
    // Longer than an echo counts.
    await Bun.sleep(11_000)
    await until('an echo over a new connection', () => listens(server), 30_000)
    expect(await server.stop()).toBe(0)
  }, 120_000)
})
