import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Home, makeHome, noBinary, run } from '../support/binary.ts'
import { freePort } from '../support/free-port.ts'
import { type PgBouncer, pgbouncer, startPgBouncer } from '../support/pgbouncer.ts'
import { type EmptyDatabase, emptyDatabase, postgresServer } from '../support/postgres.ts'
import { promise } from '../support/promise.ts'

const password = 'hush-hush'

describe.skipIf(noBinary || !postgresServer)('a PostgreSQL server that cannot be used', () => {
  let home: Home
  let database: EmptyDatabase
  beforeAll(async () => {
    database = await emptyDatabase()
    home = await makeHome()
  })
  afterAll(async () => {
    await home?.remove()
    await database?.drop()
  })

  const server = () => {
    const { hostname, port } = new URL(postgresServer ?? '')
    return `${hostname}:${port || 5432}`
  }

  /** Every command ends with 1 and one line that names host and port, but no credentials. */
  async function expectSaid(url: string, line: string, isAway = false): Promise<void> {
    const env = { COUNTERFOIL_DATABASE_URL: url }
    // A server waits for a database that is away.
    const serve = isAway ? [] : [['serve']]
    for (const command of [...serve, ['key', 'list'], ['migrate', '--status']]) {
      const { code, stdout, stderr } = await run(home.folder, command, env)
      expect({ command, code, stdout, stderr }).toEqual({
        command,
        code: 1,
        stdout: '',
        stderr: `${line}\n`,
      })
    }
    const { stdout } = await run(home.folder, ['doctor', '--json'], env)
    expect(stdout).not.toContain(password)
    expect(JSON.parse(stdout).findings).toContainEqual(
      expect.objectContaining({ part: 'database', status: 'fail', message: `${line}.` }),
    )
  }

  promise`M3`
  test('because it is down is named with host and port', async () => {
    const port = freePort()
    await expectSaid(
      `postgres://someone:${password}@127.0.0.1:${port}/db`,
      `PostgreSQL at 127.0.0.1:${port} cannot be reached; start it, or correct database_url`,
      true,
    )
  })

  test('because it lacks the database is named with the database', async () => {
    const url = new URL(database.url)
    url.pathname = '/no_such_database'
    url.password = password
    await expectSaid(
      url.href,
      `PostgreSQL at ${server()} has no database "no_such_database"; ` +
        'create it (createdb), or correct database_url',
    )
  })

  test('because it does not know the role is named without the role', async () => {
    const url = new URL(database.url)
    url.username = 'no_such_role'
    url.password = password
    await expectSaid(
      url.href,
      `PostgreSQL at ${server()} does not let this user in: no such role, or no line in ` +
        'pg_hba.conf; add it, or correct database_url',
    )
  })

  promise`M3`
  test.skipIf(!pgbouncer)('because the password is wrong is named without it', async () => {
    const pooler = await startPgBouncer({ server: database.url, password: 'the right one' })
    try {
      await expectSaid(
        pooler.url(database.name).replace('the right one', password),
        `PostgreSQL at 127.0.0.1:${pooler.port} refused the user or the password; ` +
          'correct database_url, or set PGPASSWORD',
      )
    } finally {
      await pooler.stop()
    }
  })

  test.skipIf(!pgbouncer)('because it offers no TLS is named with sslmode', async () => {
    const pooler: PgBouncer = await startPgBouncer({ server: database.url })
    try {
      await expectSaid(
        pooler.url(database.name, '?sslmode=require'),
        `PostgreSQL at 127.0.0.1:${pooler.port} does not offer TLS; ` +
          'turn ssl on in the server, or remove sslmode from database_url',
      )
    } finally {
      await pooler.stop()
    }
  })

  test('as the target of db copy is named in the same words', async () => {
    await using source = await makeHome()
    await (await source.start()).stop()
    const port = freePort()
    const from = `sqlite:${join(source.data, 'counterfoil.db')}`
    const to = `postgres://someone:${password}@127.0.0.1:${port}/db`
    const { code, stderr } = await source.cli('db', 'copy', '--from', from, '--to', to)
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `PostgreSQL at 127.0.0.1:${port} cannot be reached; start it, or correct database_url\n`,
    })
  })

  test('because its URL cannot be read is a wrong configuration', async () => {
    const file = join(home.folder, 'url')
    writeFileSync(file, `postgres://someone:100%${password}@127.0.0.1/db`, { mode: 0o600 })
    const { code, stderr } = await run(home.folder, ['serve'], {
      COUNTERFOIL_DATABASE_URL_FILE: file,
    })
    expect(code).toBe(78)
    expect(stderr).toContain('with special characters as %XX')
    expect(stderr).not.toContain(password)
  })
})
