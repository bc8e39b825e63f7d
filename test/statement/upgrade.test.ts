import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { outcomeOf } from '../support/rejection.ts'

type Run = (text: string) => Promise<unknown> | unknown
type All = (text: string) => Promise<Record<string, unknown>[]>

/** The steps of the schema before the order of transfers was kept, and from it on. */
function stepsOf(dialect: 'sqlite' | 'pg'): [before: string[], after: string[]] {
  const folder = join(import.meta.dir, '../../drizzle', dialect)
  const files = readdirSync(folder).filter((name) => name.endsWith('.sql'))
  const read = (isAfter: boolean) =>
    files
      .sort()
      .filter((name) => name >= '0007' === isAfter)
      .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('--> statement-breakpoint'))
  return [read(false), read(true)]
}

const past = [
  "insert into accounts (id, balance, held, status, created_at) values ('0xa', 60, 0, 'active', 0)",
  "insert into accounts (id, balance, held, status, created_at) values ('0xb', 5, 0, 'active', 0)",
  "insert into accounts (id, balance, held, status, created_at) values ('0xc', 0, 0, 'active', 0)",
  ...[
    "('0xa', 'req_1', 'grant', 'grants', 'user', 100, 10)",
    "('0xa', 'run_2', 'run', 'user', 'revenue', 30, 12)",
    "('0xa', 'run_1', 'run', 'user', 'revenue', 10, 12)",
    "('0xb', 'req_9', 'grant', 'grants', 'user', 5, 11)",
  ].map(
    (row) =>
      `insert into transfers (account_id, ref, kind, source, target, amount, at) values ${row}`,
  ),
]

async function upgrade(dialect: 'sqlite' | 'pg', run: Run, all: All) {
  const [before, after] = stepsOf(dialect)
  for (const text of [...before, ...past, ...after]) if (text.trim() !== '') await run(text)
  const transfers = await all(
    'select account_id, ref, seq, balance from transfers order by account_id, seq',
  )
  const accounts = await all('select id, plan, moves, moved_at from accounts order by id')
  return {
    transfers: transfers.map((row) => [
      row['account_id'],
      row['ref'],
      +String(row['seq']),
      +String(row['balance']),
    ]),
    accounts: accounts.map((row) => [
      row['id'],
      row['plan'],
      +String(row['moves']),
      +String(row['moved_at']),
    ]),
  }
}

const expected = {
  transfers: [
    ['0xa', 'req_1', 1, 100],
    ['0xa', 'run_1', 2, 90],
    ['0xa', 'run_2', 3, 60],
    ['0xb', 'req_9', 1, 5],
  ],
  accounts: [
    ['0xa', 'free', 3, 12],
    ['0xb', 'free', 1, 11],
    ['0xc', 'free', 0, 0],
  ],
}

describe('a database from before there were statements gets them for all that happened', () => {
  test('on SQLite', async () => {
    const raw = new Database(':memory:')
    const all: All = async (text) => raw.query(text).all() as Record<string, unknown>[]
    expect(await upgrade('sqlite', (text) => raw.run(text), all)).toEqual(expected)
    expect(() => raw.run('update transfers set amount = 1')).toThrow('append-only')
    raw.close()
  })

  test('on PostgreSQL', async () => {
    const client = new PGlite()
    const all: All = async (text) => (await client.query<Record<string, unknown>>(text)).rows
    expect(await upgrade('pg', (text) => client.exec(text), all)).toEqual(expected)
    expect(await outcomeOf(client.exec('update transfers set amount = 1'))).toThrow('append-only')
    await client.close()
  }, 30_000)
})
