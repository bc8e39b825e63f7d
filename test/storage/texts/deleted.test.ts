import type { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { connect } from '../../../src/storage/db/engine/connection.ts'
import { setRetention } from '../../../src/storage/texts/retain.ts'
import { promise } from '../../support/promise.ts'
import { bodyOf, type SharingWorld, sharingWorld } from '../../support/sharing.ts'
import { testAccount } from '../../support/world.ts'

/** On SQLite what was deleted is gone from the files, not only from the tables. */
describe('the files of SQLite', () => {
  let s: SharingWorld
  let raw: Database
  beforeAll(async () => {
    s = await sharingWorld('sqlite')
    raw = (s.w.db as unknown as { raw: Database }).raw
  })
  afterAll(() => s.w.stop())

  const retain = (retention: 'none' | '30d') =>
    setRetention(s.w.deps, { account: testAccount, retention, actor: 'test' })
  /** Whether the bytes stand in the database, its log, or anything else beside it. */
  const holds = (word: string | Uint8Array): boolean =>
    ['', '-wal', '-journal'].some(
      (end) =>
        existsSync(raw.filename + end) && readFileSync(raw.filename + end).includes(word as string),
    )

  promise`K19 H: Prompts and answers are not kept unless asked for, and go when they are deleted.`
  test('a prompt and an answer never get there unless the account asked', async () => {
    await s.ask('quince-4410')
    await s.ask('quince-4410 '.repeat(3000))
    expect(holds('quince-4410')).toBe(false)
    raw.run('PRAGMA wal_checkpoint(TRUNCATE)')
    expect(holds('quince-4410')).toBe(false)
  })

  promise`K19`
  test('texts of any size leave them with the deletion', async () => {
    await retain('30d')
    for (const times of [1, 40, 400, 20_000]) await s.ask('medlar-9921 '.repeat(times))
    await Promise.all(Array.from({ length: 120 }, (_, i) => s.ask(`medlar-9921 ${i}`)))
    expect(holds('medlar-9921')).toBe(true)
    await retain('none')
    expect(holds('medlar-9921')).toBe(false)
  })

  test('Expired texts leave the file in any order in which they were kept.', async () => {
    await retain('30d')
    for (let i = 0; i < 60; i++)
      await s.ask(`rowan-3150 ${'x'.repeat((i * 377) % 6000)} rowan-3150`)
    const ids = raw.query<{ run_id: string }, []>('SELECT run_id FROM run_texts').all()
    for (const [i, { run_id }] of ids.entries()) {
      const until = i % 3 === 0 ? 1 : Date.now() + 1e9
      raw.run('UPDATE run_texts SET until = ? WHERE run_id = ?', [until, run_id])
    }
    await s.w.deps.texts.dropPast(Date.now())
    expect(raw.query('SELECT 1 FROM run_texts').all().length).toBe(ids.length - 20)
    await s.w.deps.texts.dropPast(Date.now() + 2e9)
    expect(holds('rowan-3150')).toBe(false)
  })

  test('so do a revealed text that is taken back and an erased receipt with its seed', async () => {
    await retain('none')
    const id = await s.ask('sorrel-6602')
    const disclosures = { input: { value: bodyOf('sorrel-6602') } }
    await s.share(id, { visibility: 'unlisted', reveal: ['input'], disclosures })
    raw.run('PRAGMA wal_checkpoint(TRUNCATE)')
    expect(holds('sorrel-6602')).toBe(true)
    await s.share(id, { visibility: 'private' })
    expect(holds('sorrel-6602')).toBe(false)
    await s.share(id, { visibility: 'unlisted', reveal: ['input'], disclosures })
    const [run] = raw
      .query<{ seed: Uint8Array }, []>('SELECT seed FROM runs ORDER BY id')
      .all()
      .slice(-1)
    const seed = Uint8Array.from(run?.seed ?? [])
    raw.run('PRAGMA wal_checkpoint(TRUNCATE)')
    expect([seed.length, holds(seed)]).toEqual([32, true])
    await s.erase(id)
    expect([holds(seed), holds('sorrel-6602')]).toEqual([false, false])
  })

  test('a reader that holds the log up is waited for by the next turn of the job', async () => {
    await retain('30d')
    await s.ask('yarrow-2718')
    const reader = connect(raw.filename, { readonly: true })
    reader.run('BEGIN')
    reader.query('SELECT count(*) FROM runs').all()
    await retain('none')
    expect(holds('yarrow-2718')).toBe(true)
    reader.run('COMMIT')
    reader.close()
    await s.w.deps.texts.dropPast(Date.now())
    expect(holds('yarrow-2718')).toBe(false)
  })
})
