import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { CountedReceipt, Counter } from '../../../src/storage/counts/counter.ts'
import { recentReceipts } from '../../../src/storage/counts/recent.ts'
import { countStore } from '../../../src/storage/counts/store.ts'
import type { Db } from '../../../src/storage/db/engine/db.ts'
import type { EndedRun } from '../../../src/storage/db/schema/schema.ts'
import { endedRun } from '../../billing/usage/receipts.ts'
import { pricedBuiltins } from '../../support/runs.ts'
import { engines, usd, type World, world } from '../../support/world.ts'

describe.each(engines)('receipts that are counted without reading them again on %s', (engine) => {
  let w: World
  let key = ''
  beforeAll(async () => {
    w = await world({ engine, toml: pricedBuiltins })
    key = (await w.key({ balance: usd })).secret
  }, 60_000)
  afterAll(() => w.stop())

  const run = async (text: string) => {
    const json = { model: 'counterfoil/echo-1', messages: [{ role: 'user', content: text }] }
    const answer = await w.call('/v1/chat/completions', { key, json })
    expect(answer.status).toBe(200)
    await answer.json()
  }

  /** All receipts, as this store gives them to a counter that is new to the database. */
  const receiptsFrom = async (counts: ReturnType<typeof countStore>, seen: CountedReceipt[]) => {
    const lease = await counts.takeLease()
    if (!lease) throw new Error('another process counts')
    while ((await counts.count(lease, 2)) > 0);
    return seen.splice(0)
  }
  let readings = 0
  /** The same database, which counts how often receipts are read. */
  const watched = (db: Db): Db => ({
    ...db,
    write: (work, ended) =>
      db.write(function* (q) {
        const steps = work(q)
        let turn = steps.next()
        while (!turn.done) {
          if (turn.value.kind === 'prepared' && turn.value.name === 'counts.next') readings++
          turn = steps.next(yield turn.value)
        }
        return turn.value
      }, ended),
  })
  const spy = (name: string, seen: CountedReceipt[]): Counter => ({
    name,
    // biome-ignore lint/correctness/useYield: it writes nothing
    *add(_, receipts) {
      seen.push(...receipts)
    },
  })

  test('what is remembered of them is what is stored', async () => {
    await run('one')
    await w.deps.sequencer.flush()
    const seen: CountedReceipt[] = []
    const at = { clock: w.deps.clock, node: w.deps.settings.node }
    const fresh = countStore(watched(w.db), at, [spy('fresh', seen)])
    // The first is read, because it came before this store; the others are told to it.
    const told = countStore(watched(w.db), at, [spy('told', seen)])
    w.deps.logStore.onNumbered(told.place)
    const note = w.deps.counts.note
    w.deps.counts.note = (ended, costs) => {
      note(ended, costs)
      told.note(ended, costs)
    }
    for (const text of ['two', 'three', 'four', 'five']) await run(text)
    w.deps.counts.note = note
    await w.deps.sequencer.flush()
    const read = await receiptsFrom(fresh, seen)
    expect(read.length).toBe(5)
    const before = readings
    expect(await receiptsFrom(told, seen)).toEqual(read)
    // The first two, and the end.
    expect(readings - before).toBe(2)
  })
})

describe('the receipts that a process logged last', () => {
  const ended = (place: number | null): EndedRun => ({
    ...endedRun(fake, { accountId: '0xa', keyId: 'key_1', finishedAt: 1000 }),
    logPlace: place,
  })
  let serial = 0
  const fake = {
    deps: { ids: { make: () => `run_${serial++}` } },
  } as unknown as Parameters<typeof endedRun>[0]
  const placesFrom = (recent: ReturnType<typeof recentReceipts>, place: number, limit = 100) =>
    recent.from(place, limit)?.map((receipt) => receipt.place)

  test('are given from a place on, until they are dropped', () => {
    const recent = recentReceipts()
    recent.add([ended(7), ended(8)], [])
    recent.add([ended(9)], [])
    expect(placesFrom(recent, 7)).toEqual([7, 8, 9])
    expect(placesFrom(recent, 8, 1)).toEqual([8])
    recent.dropBefore(9)
    expect(placesFrom(recent, 8)).toBeUndefined()
    expect(placesFrom(recent, 9)).toEqual([9])
    recent.dropBefore(100)
    expect(placesFrom(recent, 9)).toBeUndefined()
  })

  test('are unknown before a gap, after the last and once they are forgotten', () => {
    const recent = recentReceipts()
    recent.add([ended(0), ended(1)], [])
    recent.add([ended(null), ended(3)], [])
    expect(placesFrom(recent, 0)).toBeUndefined()
    expect(placesFrom(recent, 2)).toBeUndefined()
    expect(placesFrom(recent, 3)).toEqual([3])
    expect(placesFrom(recent, 4)).toBeUndefined()
    recent.forget()
    expect(placesFrom(recent, 3)).toBeUndefined()
  })

  test('are given once they have their places, if these follow one another', () => {
    const recent = recentReceipts()
    const [one, two, three] = [ended(null), ended(null), ended(null)]
    recent.add([one, two], [{ runId: two.id, cost: 5n }])
    recent.add([three], [])
    expect(placesFrom(recent, 0)).toBeUndefined()
    recent.place([
      { id: two.id, logPlace: 4 },
      { id: one.id, logPlace: 5 },
    ])
    expect(placesFrom(recent, 4)).toEqual([4, 5])
    expect(recent.from(4, 1)?.[0]?.wholesale).toBe(5n)
    // Another node ended the run at 6.
    recent.place([
      { id: 'run_of_another', logPlace: 6 },
      { id: three.id, logPlace: 7 },
    ])
    expect(placesFrom(recent, 4)).toBeUndefined()
    expect(placesFrom(recent, 7)).toEqual([7])
  })

  test('are forgotten when thousands of them got no place', () => {
    const recent = recentReceipts()
    const [first, ...others] = Array.from({ length: 4097 }, () => ended(null))
    recent.add([first as EndedRun], [])
    recent.add(others, [])
    recent.place([{ id: first?.id ?? '', logPlace: 1 }])
    expect(placesFrom(recent, 1)).toBeUndefined()
    recent.place([{ id: others[0]?.id ?? '', logPlace: 2 }])
    expect(placesFrom(recent, 2)).toEqual([2])
  })

  test('have the cost to the operator where it is known', () => {
    const recent = recentReceipts()
    const [known, unknown] = [ended(0), ended(1)]
    recent.add([known, unknown], [{ runId: known.id, cost: 5n }])
    expect(recent.from(0, 2)?.map(({ wholesale }) => wholesale)).toEqual([5n, null])
  })

  test('are not more than sixteen thousand: who counts is far behind then', () => {
    const recent = recentReceipts()
    const one = ended(0)
    for (let place = 0; place < 16_384; place++) recent.add([{ ...one, logPlace: place }], [])
    expect(recent.from(0, 20_000)?.length).toBe(16_384)
    recent.add([{ ...one, logPlace: 16_384 }], [])
    expect(placesFrom(recent, 0)).toBeUndefined()
    expect(placesFrom(recent, 16_384)).toEqual([16_384])
  })
})
