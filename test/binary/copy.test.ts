import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  fund,
  grant,
  type Home,
  makeHome,
  must,
  noBinary,
  type Server,
  someAccount,
} from '../support/binary.ts'
import { freePort } from '../support/free-port.ts'
import { type EmptyDatabase, emptyDatabase, postgresServer } from '../support/postgres.ts'
import { promise } from '../support/promise.ts'
import { pricedBuiltins, until } from '../support/runs.ts'

const runCount = 200
const run = { model: 'counterfoil/echo-1', input: 'from one machine to many' }

describe.skipIf(noBinary || !postgresServer)('counterfoil db copy', () => {
  let home: Home
  let database: EmptyDatabase
  let secret = ''
  const receipts: { id: string; log_index: number }[] = []
  let before: Record<string, unknown> = {}
  let log: { size: number; root: string } | undefined

  beforeAll(async () => {
    database = await emptyDatabase()
    home = await makeHome(`base_url = "http://localhost:4663"\n${pricedBuiltins}`)
    const server = await startAt(home)
    secret = await fund(home, '10.00')
    for (let i = 0; i < runCount; i += 20) {
      await Promise.all(Array.from({ length: 20 }, () => runOnce(server)))
    }
    before = await figures(server)
    await audit(server)
    await server.stop()
  }, 120_000)
  afterAll(async () => {
    await home?.remove()
    await database?.drop()
  }, 30_000)

  const file = () => join(home.data, 'counterfoil.db')
  const copy = (...more: string[]) =>
    home.cli('db', 'copy', '--from', `sqlite:${file()}`, '--to', database.url, ...more)
  const place = () => {
    const { hostname, port } = new URL(database.url)
    return `postgres://${hostname}:${port || 5432}/${database.name}`
  }
  const tables = async () => {
    const found = await database.sql`select tablename from pg_tables where schemaname = 'public'`
    return found.length
  }

  async function runOnce(server: Server): Promise<void> {
    const answer = await server.call('/v1/runs', { key: secret, json: run })
    expect(answer.status).toBe(200)
    receipts.push((await answer.json()).receipt)
  }

  async function figures(server: Server): Promise<Record<string, unknown>> {
    const get = async (path: string) => (await server.call(path, { key: secret })).json()
    const status = await get('/v1/status')
    expect(status.ledger).toBe('balanced')
    const { balance_nusd, held_nusd } = await get('/v1/balance')
    const { cap } = await get('/v1/keys/self')
    return { balance_nusd, held_nusd, spent: cap.spent_nusd }
  }

  /** What a stranger finds, who remembers the log as it was at the last time. */
  async function audit(server: Server): Promise<void> {
    const done = await home.cli('audit', '--base', server.origin, '--state', 'seen.json', '--json')
    const { checks } = JSON.parse(done.stdout) as { checks: { status: string }[] }
    expect(checks.filter(({ status }) => status === 'fail')).toEqual([])
    expect(checks.filter(({ status }) => status === 'pass').length).toBeGreaterThan(2)
  }

  test('The copy is refused while the server runs and for another kind of database.', async () => {
    const server = await startAt(home)
    const busy = await copy()
    expect(busy.code).toBe(1)
    expect(busy.stderr).toContain('stop it')
    expect(await server.stop()).toBe(0)
    expect(await tables()).toBe(0)
    expect((await home.cli('db', 'copy', '--from', file(), '--to', database.url)).code).toBe(2)
    const none = await home.cli('db', 'copy', '--from', 'sqlite:none.db', '--to', database.url)
    expect(none.code).toBe(78)
    expect(none.stderr).toContain('database')
  }, 60_000)

  test('that fails leaves the file as it was, and a server starts on it', async () => {
    const digest = () => createHash('sha256').update(readFileSync(file())).digest('hex')
    const was = digest()
    await database.sql`create table photos (id integer)`
    expect((await copy()).code).toBe(1)
    await database.sql`drop table photos`
    expect(digest()).toBe(was)
    expect(await (await startAt(home)).stop()).toBe(0)
  }, 60_000)

  test('copies all of it, and says what it comes to', async () => {
    const done = await copy('--json')
    expect(done.stderr).toContain(`The file is marked as moved to ${place()}; no server`)
    expect(done.code).toBe(0)
    expect(done.stderr).not.toContain(new URL(database.url).password || 'no password')
    const told = JSON.parse(done.stdout)
    expect(told.balance_nusd).toBe(String(before['balance_nusd']))
    expect(told.held_nusd).toBe('0')
    expect(told.sides_nusd.user).toBe(told.balance_nusd)
    expect(told.sides_nusd.revenue).toBe(String(before['spent']))
    expect(told.tables).toContainEqual({ table: 'runs', rows: runCount })
    log = told.logs[0]
    expect(log?.size).toBeGreaterThan(runCount)
  }, 120_000)

  promise`M4 C: A database that was copied elsewhere is not served or changed again by mistake.`
  test('marks the file: no server and no command goes on with it', async () => {
    const commands = [
      ['serve'],
      ['serve', '--dev', '--data', home.data],
      ['key', 'create', '--account', someAccount, '--cap', '1.00'],
      ['grant', someAccount, '1.00', '--reason', 'test'],
      ['log', 'reopen', '--reason', 'test'],
      ['migrate'],
    ]
    for (const command of commands) {
      const { code, stdout, stderr } = await home.cli(...command)
      expect({ command, code, stdout }).toEqual({ command, code: 78, stdout: '' })
      expect(stderr).toContain(`${file()} was copied to ${place()} at 20`)
      expect(stderr).toContain('counterfoil serve --really')
      expect(stderr).not.toContain('@')
    }
    const { code, stdout } = await home.cli('doctor', '--json')
    expect(code).toBe(1)
    expect(JSON.parse(stdout).findings).toContainEqual({
      part: 'database',
      status: 'fail',
      message: expect.stringContaining(`was copied to ${place()} at 20`),
      fix: `set database_url to ${place()}`,
    })
  }, 60_000)

  promise`M4`
  test('keeps its mark in a backup of the file', async () => {
    await must(home, 'backup', 'marked.db')
    await using other = await makeHome()
    await must(other, 'restore', join(home.folder, 'marked.db'))
    const { code, stderr } = await other.cli('key', 'list')
    expect({ code, stderr }).toEqual({ code: 78, stderr: expect.stringContaining(place()) })
  }, 60_000)

  test('is refused where something is already, which stays', async () => {
    const again = await copy()
    expect(again.code).toBe(1)
    expect(again.stderr).toContain(`was copied to ${place()}`)
    const fresh = await makeHome()
    try {
      await (await fresh.start()).stop()
      const from = `sqlite:${join(fresh.data, 'counterfoil.db')}`
      const other = await fresh.cli('db', 'copy', '--from', from, '--to', database.url)
      expect(other.code).toBe(1)
      expect(other.stderr).toContain('already has a table')
    } finally {
      await fresh.remove()
    }
    const [found] = await database.sql`select count(*) as runs from runs`
    expect(Number(found.runs)).toBe(runCount)
  }, 60_000)

  test('gives a database that a server goes on with: same money, same root, same receipts', async () => {
    home.configure(
      `base_url = "http://localhost:4663"\ndatabase_url = "${database.url}"\n${pricedBuiltins}`,
    )
    const server = await startAt(home)
    expect(await figures(server)).toEqual(before)
    for (const { id } of receipts.filter((_, i) => i % 20 === 0)) {
      const receipt = await server.get(`/v1/receipts/${id}`, secret)
      const verdict = await server.call('/v1/receipts/verify', { json: receipt })
      expect(await verdict.json()).toMatchObject({ valid: true, level: 'logged' })
    }
    const head = await until(
      'the head to be signed',
      async () => {
        const { checkpoint } = (await server.get('/v1/anchors')).log
        return Number(checkpoint?.size) === log?.size && checkpoint
      },
      30_000,
    )
    expect(head.root).toBe(log?.root)
    await runOnce(server)
    const newest = receipts.at(-1)?.id ?? ''
    const read = await server.get(`/v1/receipts/${newest}`, secret)
    expect(Number(read.proof.index)).toBe(log?.size ?? 0)
    await audit(server)
    await must(home, 'doctor')
    expect(await server.stop()).toBe(0)
  }, 120_000)

  promise`M4`
  test('lets the file go on only with serve --really, which takes the mark away', async () => {
    home.configure(`base_url = "http://localhost:4663"\n${pricedBuiltins}`)
    // The copy was served from the same data folder, which knows what was signed there.
    const server = await home.start({ port: freePort(), args: ['--really'], probe: '/livez' })
    expect(readFileSync(home.printed.stderr, 'utf8')).toContain('database.goes_on_beside_copy')
    await grant(home, '1.00')
    expect(await server.stop()).toBe(0)
    await must(home, 'log', 'reopen', '--reason', 'goes on beside its copy')
    expect(await (await startAt(home)).stop()).toBe(0)
  }, 60_000)
})

const startAt = (home: Home): Promise<Server> => home.start({ port: freePort() })
