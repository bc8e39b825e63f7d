import { describe, expect, test } from 'bun:test'
import { keyUses } from '../../../src/access/keys/store/key-use.ts'
import { openPostgres } from '../../../src/storage/db/engine/postgres.ts'
import { migratePostgres } from '../../../src/storage/db/schema/migrate.ts'
import type { KeyRow } from '../../../src/storage/db/schema/schema.ts'
import { insert } from '../../../src/storage/db/sql/query-steps.ts'
import { plainKey } from '../../support/plain-key.ts'
import { emptyDatabase, postgresServer } from '../../support/postgres.ts'
import { until } from '../../support/runs.ts'

describe.skipIf(!postgresServer)('when keys were used, on PostgreSQL', () => {
  test('is written in the order in which the ledger locks keys, so no two nodes deadlock', async () => {
    const database = await emptyDatabase()
    const ledger = new Bun.SQL({ url: database.url, max: 1 })
    const db = openPostgres(database.url)
    try {
      await migratePostgres(db.drizzle, 0)
      await db.write(() => insert(db.tables.keys, [keyOf('key_1'), keyOf('key_2')]))
      const uses = keyUses(db)
      uses.noteUse('key_2', 20)
      uses.noteUse('key_1', 10)
      let writing: Promise<void> | undefined
      await ledger.begin(async (tx) => {
        await tx`select 1 from keys where id = 'key_1' for update`
        writing = uses.writeUses()
        await until('it to wait for the first key', async () => {
          const waiting = await database.sql`select 1 from pg_stat_activity
            where datname = ${database.name} and wait_event_type = 'Lock'`
          return waiting.length > 0
        })
        // It holds no later key while it waits for an earlier one.
        await tx`select 1 from keys where id = 'key_2' for update nowait`
      })
      await writing
      const rows = await database.sql`select id, last_used_at::int as at from keys order by id`
      expect([...rows]).toEqual([
        { id: 'key_1', at: 10 },
        { id: 'key_2', at: 20 },
      ])
    } finally {
      await ledger.close()
      await db.close()
      await database.drop()
    }
  })
})

const keyOf = (id: string): KeyRow => ({
  id,
  accountId: '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
  parentId: null,
  lineage: [id],
  name: id,
  fingerprint: id,
  capLimit: 1n,
  capWindow: 'lifetime',
  ...plainKey,
  scopes: [],
  createdAt: 1,
  expiresAt: 2,
})
