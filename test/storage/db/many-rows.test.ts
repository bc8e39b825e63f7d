import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { asc } from 'drizzle-orm'
import { endedRun } from '../../../bench/ended-run.ts'
import { toStored } from '../../../src/ledger/store/write.ts'
import type { Db } from '../../../src/storage/db/engine/db.ts'
import type { StoredRun } from '../../../src/storage/db/schema/schema.ts'
import { findFact, writeFact } from '../../../src/storage/db/sql/facts.ts'
import { findRows, insert, rows } from '../../../src/storage/db/sql/query-steps.ts'
import { outcomeOf } from '../../support/rejection.ts'
import { engines, freshDb } from '../../support/world.ts'

/** Texts that a format of lines, fields or arrays could take for its own signs. */
const texts = [
  'plain',
  '',
  '\\N',
  '\\.',
  'tab\there',
  'line\nline\r\nline',
  'C:\\dir\\new',
  'say "hi", {a,b}, NULL',
  "it's 100 % – é 漢 🦊",
  '{}',
]

const idAt = (at: number): string => `run_${String(at).padStart(26, '0')}`

function runAt(at: number, text = texts[at % texts.length] ?? ''): StoredRun {
  const owned = { issuer: 'https://gw.example', account: '0xa', keyId: 'key_1' }
  const { signature: _, ...run } = endedRun({
    id: idAt(at),
    ...owned,
    finishedAt: 1000 + at,
    index: at,
  })
  const awkward = {
    model: text,
    tags: { [text]: text },
    metadata: { text, list: [text, null, 1.5, { text }] },
    error: at % 2 === 0 ? null : { type: text, message: text },
    seed: Uint8Array.from({ length: 32 }, (_, i) => (at * 31 + i * 7) % 256),
    outputCommitment: at % 3 === 0 ? null : new Uint8Array(),
    background: at % 2 === 1,
    logPlace: null,
  }
  return toStored({ ...run, ...awkward }, undefined)
}

describe.each(engines)('many rows in one insert on %s', (engine) => {
  let db: Db
  let drop: () => Promise<void>
  beforeAll(async () => {
    const fresh = await freshDb(engine)
    db = fresh.db
    drop = fresh.drop
  }, 60_000)
  afterAll(async () => {
    await db.close()
    await drop()
  })

  const stored = () =>
    db.read((q) => rows(q.select().from(db.tables.runs).orderBy(asc(db.tables.runs.id))))

  test('are stored as they are, no matter what their texts and bytes', async () => {
    const added = Array.from({ length: 60 }, (_, at) => runAt(at))
    const found = await db.write(function* () {
      yield* insert(db.tables.runs, added)
      yield* writeFact(db, 'behind', 'written')
      return yield* findRows(db.tables.runs, { id: [idAt(4), idAt(7)] })
    })
    expect(found).toEqual([runAt(4), runAt(7)])
    expect(await stored()).toEqual(added)
    expect(await findFact(db, 'behind')).toBe('written')
  })

  test('fail as one when a row repeats a key, with all that the transaction wrote', async () => {
    const before = await stored()
    const writing = db.write(function* () {
      yield* writeFact(db, 'before', 'written')
      yield* insert(
        db.tables.runs,
        Array.from({ length: 30 }, (_, i) => runAt(59 + i)),
      )
      yield* writeFact(db, 'after', 'written')
    })
    expect(await outcomeOf(writing)).toThrow(/unique|UNIQUE|duplicate|insert into|copy|COPY/)
    expect(await stored()).toEqual(before)
    expect(await findFact(db, 'before')).toBeUndefined()
    expect(await findFact(db, 'after')).toBeUndefined()
  })

  test('behind a change that failed are not stored, and its error is the one that is told', async () => {
    const before = await stored()
    const unpaid = { ...runAt(100), cost: 5n, hold: 1n }
    const writing = db.write(function* () {
      yield* insert(db.tables.runs, [unpaid])
      yield* insert(
        db.tables.runs,
        Array.from({ length: 30 }, (_, i) => runAt(200 + i)),
      )
    })
    const error = await writing.then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    expect(textsOf(error)).toContain('runs_paid_within_hold')
    expect(await stored()).toEqual(before)
    await db.write(function* () {
      yield* insert(
        db.tables.runs,
        Array.from({ length: 30 }, (_, i) => runAt(200 + i)),
      )
    })
    expect((await stored()).length).toBe(before.length + 30)
  })
})

/** The messages of an error and of what caused it. */
function textsOf(error: unknown): string {
  const texts: string[] = []
  for (let at = error; at instanceof Error; at = at.cause) texts.push(at.message)
  return texts.join('\n')
}
