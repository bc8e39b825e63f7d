import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { endedRun } from '../../../bench/ended-run.ts'
import { toStored } from '../../../src/ledger/store/write.ts'
import { waitingRuns } from '../../../src/proof/log/store/unplaced.ts'
import type { Db } from '../../../src/storage/db/engine/db.ts'
import type { EndedRun } from '../../../src/storage/db/schema/schema.ts'
import { insert, type Step, type Work } from '../../../src/storage/db/sql/query-steps.ts'
import { engines, freshDb } from '../../support/world.ts'

const endedAt = (at: number, finishedAt: number): EndedRun => {
  const owned = { issuer: 'https://gw.example', account: '0xa', keyId: 'key_1' }
  const id = `run_${String(at).padStart(26, '0')}`
  return { ...endedRun({ id, ...owned, finishedAt, index: at }), logPlace: null }
}

/** In the order of their ids; they ended in another one. */
const ended = [5, 2, 2, 9, 1].map((finishedAt, at) => endedAt(at, 1000 + finishedAt))
const ids = ended.map(({ id }) => id)
const byEnd = [4, 1, 2, 0, 3]
const inOrder = byEnd.flatMap((at) => ids[at] ?? [])

describe.each(engines)('ended runs that wait for their places on %s', (engine) => {
  let db: Db
  let drop: () => Promise<void>
  let loseConnection = () => {}
  beforeAll(async () => {
    const fresh = await freshDb(engine)
    drop = fresh.drop
    const onConnectionLost: Db['onConnectionLost'] = (listener) => {
      loseConnection = listener
    }
    db = { ...fresh.db, onConnectionLost }
    const stored = ended.map((run) => toStored(run, undefined))
    await db.write(() => insert(db.tables.runs, stored))
  }, 60_000)
  afterAll(async () => {
    await db.close()
    await drop()
  })

  /** What is found, and the ids that were read for it. */
  async function find(runs: ReturnType<typeof waitingRuns>, wanted = ids) {
    const read: (string | number)[] = []
    const found = await db.write(() => watched(runs.find(wanted), read))
    expect(found.map(({ digest }) => digest)).toEqual(
      found.map(({ id }) => ended.find((run) => run.id === id)?.digest ?? new Uint8Array()),
    )
    return { found: found.map(({ id }) => id), read: read.sort() }
  }

  test('come in the order of their ends, whether they are remembered or read', async () => {
    const runs = waitingRuns(db)
    expect(await find(runs)).toEqual({ found: inOrder, read: ids })
    runs.note(ended.slice(0, 3))
    expect(await find(runs)).toEqual({ found: inOrder, read: ids.slice(3) })
    runs.note(ended)
    expect(await find(runs)).toEqual({ found: inOrder, read: [] })
  })

  test('are found once, also one that is noted while the others are read', async () => {
    const runs = waitingRuns(db)
    runs.note(ended.slice(0, 2))
    const found = await db.write(() => watched(runs.find(ids), [], () => runs.note(ended)))
    expect(found.map(({ id }) => id)).toEqual(inOrder)
  })

  test('are remembered until they have a place', async () => {
    const runs = waitingRuns(db)
    runs.note(ended.map((run, at) => ({ ...run, logPlace: at === 0 ? 7 : null })))
    expect((await find(runs)).read).toEqual(ids.slice(0, 1))
    runs.drop(ended.slice(1, 3))
    expect((await find(runs)).read).toEqual(ids.slice(0, 3))
  })

  test('are forgotten with a lost connection, and when thousands were never placed here', async () => {
    const runs = waitingRuns(db)
    runs.note(ended)
    loseConnection()
    expect((await find(runs)).read).toEqual(ids)
    runs.note(ended)
    runs.note(Array.from({ length: 4096 }, (_, i) => endedAt(100 + i, 1)))
    expect((await find(runs)).read).toEqual(ids)
  })
})

/** Runs work, notes the ids of rows that it reads, and does something meanwhile. */
function* watched<T>(
  work: Work<T>,
  read: (string | number)[],
  meanwhile = () => {},
): Generator<Step, T, unknown> {
  let turn = work.next()
  while (!turn.done) {
    if (turn.value.kind === 'find') read.push(...(turn.value.where['id'] ?? []))
    const outcome = yield turn.value
    meanwhile()
    turn = work.next(outcome)
  }
  return turn.value
}
