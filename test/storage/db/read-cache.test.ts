import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeReadCache } from '../../../src/storage/db/engine/read-cache.ts'
import { openSqlite } from '../../../src/storage/db/engine/sqlite.ts'
import { lookEveryMs } from '../../../src/storage/db/engine/version.ts'
import { outcomeOf } from '../../support/rejection.ts'

describe('reads that are kept while nothing is written', () => {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-still-'))
  const file = join(folder, 'still.db')
  const db = openSqlite(file)
  const still = makeReadCache(db)
  let reads = 0
  const count = () => still('rows', async () => ++reads)

  beforeAll(() => void db.raw.run('create table t (n integer)'))
  afterAll(async () => {
    await db.close()
    rmSync(folder, { recursive: true })
  })

  test('the second asks no one, and answers at once', async () => {
    const first = await count()
    expect(count()).toBe(first)
  })

  test('a write of this process is seen at once', async () => {
    const before = await count()
    db.raw.run('insert into t values (1)')
    expect(await count()).toBe(before + 1)
  })

  test('a write of another connection is seen at the next look', async () => {
    const before = await count()
    const other = new Database(file)
    other.run('insert into t values (2)')
    other.close()
    await Bun.sleep(lookEveryMs + 1)
    expect(await count()).toBe(before + 1)
  })

  test('what was read before a write is not kept after it', async () => {
    const before = await still('slow', async () => {
      db.raw.run('insert into t values (3)')
      return 'old'
    })
    expect([before, await still('slow', async () => 'new')]).toEqual(['old', 'new'])
  })

  test('what could not be read is asked for again', async () => {
    const failing = still('failing', () => Promise.reject(new Error('no disk')))
    expect(await outcomeOf(failing)).toThrow('no disk')
    expect(await still('failing', async () => 1)).toBe(1)
  })

  test('where only asking tells, each one asks', async () => {
    const server = makeReadCache({})
    expect([await server('a', async () => 1), await server('a', async () => 2)]).toEqual([1, 2])
  })
})
