import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lookAtDatabase, openForLook } from '../../../src/cli/doctor-database.ts'
import { connect } from '../../../src/storage/db/engine/connection.ts'
import { migrateSqlite } from '../../../src/storage/db/schema/migrate.ts'
import { configOf } from '../../support/world.ts'

const folder = mkdtempSync(join(tmpdir(), 'counterfoil-doctor-schema-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** What doctor finds in a database that the statement changed. */
async function find(name: string, statement: string) {
  const file = join(folder, name)
  const raw = connect(file)
  migrateSqlite(raw, 0, () => {})
  raw.run("insert into migrations values ('9999_later', 'x', 0)")
  raw.run(statement)
  raw.close()
  const { db, findings } = await openForLook(configOf(`database_url = "sqlite:${file}"`))
  await db?.close()
  return { isOpen: db !== undefined, findings }
}

describe('doctor, of a database with a newer schema', () => {
  test('says to install the newer version where it changed something, and never to restore', async () => {
    const statement = "update schema_needs set tag = '9999_later'"
    const { isOpen, findings } = await find('foreign.db', statement)
    expect(isOpen).toBe(false)
    expect(findings).toEqual([
      {
        part: 'database',
        status: 'fail',
        message: expect.stringContaining('9999_later'),
        fix: expect.stringContaining('install the newer version'),
      },
    ])
  })

  test('warns where it only added something, and goes on', async () => {
    const { isOpen, findings } = await find('newer.db', 'select 1')
    expect(isOpen).toBe(true)
    expect(findings).toMatchObject([{ part: 'database', status: 'warn' }])
    expect(findings[0]?.message).toContain('9999_later')
  })
})

test('doctor names each balance that its journal does not explain, and says what to restore', async () => {
  const file = join(folder, 'unbalanced.db')
  const raw = connect(file)
  migrateSqlite(raw, 0, () => {})
  raw.run(
    'insert into accounts (id, balance, held, status, created_at) ' +
      "values ('0xa', 7, 0, 'active', 0)",
  )
  raw.close()
  const config = configOf(`database_url = "sqlite:${file}"`)
  const { db } = await openForLook(config)
  if (!db) throw new Error('the database was not opened')
  const findings = await lookAtDatabase(config, db)
  await db.close()
  expect(findings.filter(({ status }) => status === 'fail')).toEqual([
    {
      part: 'ledger',
      status: 'fail',
      message: 'balance of account 0xa is 7, but should be 0.',
      fix: expect.stringContaining('counterfoil restore'),
    },
  ])
})
