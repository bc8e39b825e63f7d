import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fund, type Home, makeHome, noBinary, type Server } from '../support/binary.ts'
import { metricsUrl } from '../support/judges.ts'
import { noOwnPostgres, type OwnPostgres, startOwnPostgres } from '../support/own-postgres.ts'
import { pacedModels, startPacedUpstream } from '../support/paced-upstream.ts'
import { promise } from '../support/promise.ts'
import { until } from '../support/runs.ts'
import type { StubUpstream } from '../support/stub-upstream.ts'
import { faultsIn, untilNumbered } from './nodes.ts'

const flat = { model: 'stub/flat', input: 'hello' }
const withinMs = 60_000
/** Only root mounts a file system. */
const mayMount = process.getuid?.() === 0

promise`K22 H: A PostgreSQL server that takes no writes is a 503 that says why, on the node too, and
  passes by itself.`
describe.skipIf(noBinary || noOwnPostgres)('a node on a PostgreSQL server in trouble', () => {
  let postgres: OwnPostgres
  let upstream: StubUpstream
  beforeAll(async () => {
    postgres = await startOwnPostgres()
    upstream = await startPacedUpstream()
    const owner = new Bun.SQL({ url: postgres.url(), max: 1 })
    // A limit on connections holds for those who may not do everything.
    await owner.unsafe('create role service login')
    await owner.close()
  }, withinMs)
  const urlOf = (database: string) => postgres.url(database).replace('tester@', 'service@')
  afterAll(async () => {
    await upstream?.stop()
    await postgres?.remove()
  }, withinMs)

  let name: string
  let admin: Bun.SQL
  let home: Home
  let server: Server
  let key: string
  let made = 0
  const open = async (more = '') => {
    name = `service_${made++}`
    admin = new Bun.SQL({ url: postgres.url(), max: 1 })
    await admin.unsafe(`create database ${name} owner service ${more}`)
    home = await makeHome(`database_url = "${urlOf(name)}"
${pacedModels(upstream.url)}
[limits]
rpm = 1_000_000
[metrics]
listen = "0"
`)
    server = await home.start()
    key = await fund(home, '5.00')
    expect((await ask()).status).toBe(200)
  }
  afterEach(async () => {
    await home?.remove()
    await admin?.close()
  }, withinMs)

  const ask = () => server.call('/v1/runs', { key, json: flat })
  const read = () => server.call('/v1/balance', { key })

  /** What clients, supervisors and operators are told, and that it is over by itself. */
  const expectTrouble = async (reason: string, database: string) => {
    await until(`/readyz to say ${reason}`, async () => {
      const answer = await server.call('/readyz')
      return answer.status === 503 && (await answer.json()).error.metadata.reason === reason
    })
    // On a full disk a run may still fit into the pages there are.
    const answer = await until('a run to be refused', async () => {
      const given = await ask()
      return given.status === 503 && given
    })
    const { error } = await answer.json()
    expect([answer.status, error.type, error.metadata]).toEqual([503, 'unavailable', { reason }])
    expect(error.message).toContain('Nothing was stored or charged.')
    expect(answer.headers.get('retry-after')).toBe('5')
    const status = await server.get('/v1/status')
    expect([status.status, status.database.status]).toEqual(['degraded', database])
    await until('the metric', async () => (await isUp()) === '0')
    expect((await server.call('/livez')).status).toBe(200)
  }
  const expectWell = async () => {
    await until('a run to be paid', async () => (await ask()).status === 200, 10_000)
    const isReady = async () => (await server.call('/readyz')).status === 200
    await until('/readyz to be well', isReady, 15_000)
    await until('the metric', async () => (await isUp()) === '1')
    const url = postgres.url(name)
    const sql = new Bun.SQL({ url, max: 1 })
    const database = { name, url, sql, drop: () => sql.close() }
    await untilNumbered({ database })
    expect(await faultsIn({ database })).toEqual([])
    await sql.close()
  }
  /** What the metrics say of the database; scrapes of half a second share one look at it. */
  const isUp = async () => {
    const text = await (await fetch(metricsUrl(home))).text()
    return /^counterfoil_database_up (\d)$/m.exec(text)?.[1]
  }

  const cut = () =>
    admin`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`

  test('is not ready while it is read-only, though reads work, and drops its old connections', async () => {
    await open()
    await admin.unsafe(`alter database ${name} set default_transaction_read_only = on`)
    await cut()
    await expectTrouble('storage_read_only', 'read_only')
    expect((await read()).status).toBe(200)
    // Connections of before stay read-only, as those to a primary that was demoted do.
    await admin.unsafe(`alter database ${name} reset default_transaction_read_only`)
    await expectWell()
  }, 90_000)

  test('says unreachable while it is stopped, and goes on when it is started again', async () => {
    await open()
    const asking = Array.from({ length: 20 }, ask)
    await admin.close()
    postgres.stop()
    for (const answer of await Promise.all(asking)) expect([200, 503]).toContain(answer.status)
    await expectTrouble('storage_unreachable', 'down')
    postgres.start()
    await expectWell()
  }, 90_000)

  test('waits at its start for a server that is away, and says so, and goes on by itself', async () => {
    await open()
    await server.stop()
    await admin.close()
    postgres.stop()
    server = await home.start({ port: server.port, probe: '/livez', isWaiting: true })
    const ready = await server.call('/readyz')
    expect([ready.status, (await ready.json()).error.metadata]).toEqual([
      ...[503, { reason: 'database' }],
    ])
    const run = await ask()
    expect([run.status, run.headers.get('retry-after')]).toEqual([503, '1'])
    // Longer than systemd would have tried five starts.
    await Bun.sleep(8000)
    const printed = readFileSync(home.printed.stderr, 'utf8')
    expect(printed.split('"database.awaited"')).toHaveLength(2)
    expect(printed).toContain(`PostgreSQL at 127.0.0.1:${postgres.port} cannot be reached`)
    postgres.start()
    await expectWell()
  }, 90_000)

  test('says exhausted while it lets no one connect any more', async () => {
    await open()
    await admin.unsafe(`alter database ${name} connection limit 0`)
    await cut()
    await expectTrouble('storage_exhausted', 'down')
    await admin.unsafe(`alter database ${name} connection limit -1`)
    await expectWell()
  }, 90_000)

  test.skipIf(!mayMount)(
    'says full while the file system of its tables is, and reads go on',
    async () => {
      const folder = join(postgres.folder, 'small')
      const isDone = (...command: string[]) => Bun.spawnSync(command).exitCode === 0
      mkdirSync(folder)
      expect(isDone('mount', '-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', folder)).toBe(true)
      try {
        expect(isDone('chown', 'postgres', folder)).toBe(true)
        const owner = new Bun.SQL({ url: postgres.url(), max: 1 })
        await owner.unsafe(`create tablespace small location '${folder}'`)
        await owner.close()
        await open('tablespace small')
        const filling = join(folder, 'filling')
        isDone('dd', 'if=/dev/zero', `of=${filling}`, 'bs=64k')
        // What fits into the pages there are is stored.
        await until('the disk to be full', async () => (await ask()).status === 503, 40_000)
        await expectTrouble('storage_full', 'read_only')
        expect((await read()).status).toBe(200)
        rmSync(filling)
        await expectWell()
      } finally {
        await home?.remove()
        await admin?.unsafe(`drop database if exists ${name} with (force)`).catch(() => undefined)
        isDone('umount', '-l', folder)
      }
    },
    120_000,
  )
})
