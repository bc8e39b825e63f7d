import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { binary, type Home, makeHome, makeKey, must, noBinary, run } from '../support/binary.ts'
import { freePort } from '../support/free-port.ts'
import { type EmptyDatabase, emptyDatabase, postgresServer } from '../support/postgres.ts'
import { promise } from '../support/promise.ts'

if (!Bun.which('pg_dump')) console.log('pg_dump is not installed: its tests are left out')

const left = noBinary || !postgresServer || !Bun.which('pg_dump')
describe.skipIf(left)('the nightly backup of a PostgreSQL database', () => {
  let database: EmptyDatabase
  let second: EmptyDatabase
  let home: Home
  let folder = ''
  beforeAll(async () => {
    database = await emptyDatabase()
    second = await emptyDatabase()
    // A parameter that PostgreSQL's own tools refuse.
    home = await makeHome(`database_url = "${database.url}?prepare=false"`)
    folder = join(home.folder, 'backups')
    mkdirSync(folder)
  }, 30_000)
  afterAll(async () => {
    await home?.remove()
    await database?.drop()
    await second?.drop()
  }, 30_000)

  const backupFindings = async () => {
    const { stdout } = await home.cli('doctor', '--json')
    const { findings } = JSON.parse(stdout) as { findings: { part: string }[] }
    return findings.filter(({ part }) => part === 'backup')
  }

  /** What systemd would run, with the places of this test. */
  const execStart = (): string => {
    const unit = readFileSync('packaging/counterfoil-backup.service', 'utf8')
    const line = /^ExecStart=(.*)$/m.exec(unit)?.[1] ?? ''
    return line
      .replaceAll('%%', '%')
      .replaceAll('$$', '$')
      .replaceAll('/usr/local/bin/counterfoil', binary)
      .replaceAll('/var/backups/counterfoil', folder)
  }

  promise`M6 H: The nightly backup works on PostgreSQL too, and doctor knows the age of the newest.`
  test('is made by the unit of the timer beside a running server, and doctor knows its age', async () => {
    const server = await home.start({ port: freePort() })
    const { id } = await makeKey(home)
    const why = 'This database was never backed up with counterfoil backup.'
    expect(await backupFindings()).toMatchObject([{ status: 'warn', message: why }])
    const child = Bun.spawn(['bash', '-c', execStart()], {
      cwd: home.folder,
      env: { PATH: process.env['PATH'] ?? '', HOME: home.folder },
      stdout: 'ignore',
      stderr: 'pipe',
    })
    const said = await new Response(child.stderr).text()
    expect({ code: await child.exited, said }).toEqual({ code: 0, said: expect.any(String) })
    const [name = '', ...more] = readdirSync(folder)
    expect({ name, more }).toEqual({ name: expect.stringMatching(/^20.*Z\.db$/), more: [] })
    expect(statSync(join(folder, name)).mode & 0o077).toBe(0)
    const newest = expect.stringMatching(/^The newest backup was taken at 20/)
    expect(await backupFindings()).toMatchObject([{ status: 'ok', message: newest }])
    expect(await server.stop()).toBe(0)

    const restored = Bun.spawnSync([
      'pg_restore',
      '--single-transaction',
      '--no-owner',
      `--dbname=${second.url}`,
      join(folder, name),
    ])
    expect(restored.stderr.toString()).toBe('')
    const listed = await must(home, 'key', 'list', '--json', '--database-url', second.url)
    expect(JSON.parse(listed).data).toMatchObject([{ id }])
  }, 60_000)

  promise`M6`
  test('keeps nothing and says why when pg_dump fails, and never writes over a file', async () => {
    const before = readdirSync(folder)
    const file = join(folder, before[0] ?? '')
    const taken = await home.cli('backup', file)
    expect({ code: taken.code, stderr: taken.stderr }).toEqual({
      code: 1,
      stderr: `${file} already exists and was not changed. Move it away first\n`,
    })
    const url = 'postgres://counterfoil:hunter2@127.0.0.1:1/counterfoil'
    const failed = await home.cli('backup', join(folder, 'x.db'), '--database-url', url)
    expect(failed.code).toBe(1)
    expect(failed.stderr).toContain('127.0.0.1:1 cannot be reached')
    expect(failed.stderr).not.toContain('hunter2')
    expect(readdirSync(folder)).toEqual(before)
  })

  test('without pg_dump names the command that is missing, without the password', async () => {
    const there = new URL(database.url)
    there.password = 'hunter2'
    const args = ['backup', 'x.db', '--database-url', there.href]
    const { code, stdout, stderr } = await run(home.folder, args, { PATH: '/nowhere' })
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain('pg_dump is not installed')
    expect(stderr).toContain('pg_dump --format=custom')
    expect(stderr).toContain(there.pathname)
    expect(stderr).not.toContain('hunter2')
  })
})
