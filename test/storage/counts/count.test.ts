import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { usageCounter } from '../../../src/billing/usage/store/usage-counter.ts'
import { explorerCounter, toCounts } from '../../../src/front/explorer/store/explorer-counter.ts'
import { receiptCounter } from '../../../src/storage/counts/count.ts'
import type { Counter } from '../../../src/storage/counts/counter.ts'
import { countStore } from '../../../src/storage/counts/store.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { addReceipts, countAll, countedAndFresh } from '../../billing/usage/receipts.ts'
import { prng } from '../../ledger/prng.ts'
import { engines, type World, world } from '../../support/world.ts'

const start = Date.UTC(2026, 10, 20, 12)
const hour = 3_600_000

describe.each(engines)('counters of one log on %s', (engine) => {
  let w: World
  beforeAll(async () => {
    w = await world({ engine, now: start })
  }, 60_000)
  afterAll(() => w.stop())

  const dice = prng(4663)
  const addSome = (count: number) =>
    addReceipts(
      w,
      Array.from({ length: count }, () => ({
        accountId: '0xa',
        keyId: 'key_1',
        finishedAt: start + dice.below(50 * hour),
        status: dice.pick(['succeeded', 'failed'] as const),
      })),
    )

  const countWith = async (counters: Counter[]) => {
    const counts = countStore(w.db, { clock: w.deps.clock, node: w.deps.settings.node }, counters)
    const tick = receiptCounter({ counts, clock: w.deps.clock })
    while (await counts.waits()) await tick()
  }

  const explored = async () => {
    const { explorerCounts, runs } = w.db.tables
    const counted = await w.db.read((q) => rows(q.select().from(explorerCounts)))
    const all = await w.db.read((q) => rows(q.select().from(runs)))
    const fresh = toCounts(all)
    const sorted = counted.sort((a, b) => a.grain.localeCompare(b.grain) || a.at - b.at)
    return { counted: sorted, fresh }
  }

  test('one that is new to a database counts what others counted before, and they do not again', async () => {
    await addSome(100)
    await countWith([usageCounter(w.db)])
    expect((await explored()).counted).toEqual([])
    await addSome(20)
    await countAll(w)
    await addSome(30)
    await countAll(w)
    await countAll(w)
    const { counted, fresh } = await explored()
    expect(counted.length).toBeGreaterThan(10)
    expect(counted).toEqual(fresh)
    const usage = await countedAndFresh(w)
    expect(usage.counted).toEqual(usage.fresh)
  }, 60_000)

  test('one that was left behind comes up to the others', async () => {
    await addSome(40)
    await countWith([explorerCounter(w.db)])
    await addSome(200)
    await countAll(w)
    const { counted, fresh } = await explored()
    expect(counted).toEqual(fresh)
    const usage = await countedAndFresh(w)
    expect(usage.counted).toEqual(usage.fresh)
  }, 60_000)
})
