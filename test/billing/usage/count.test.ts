import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { usageCounter } from '../../../src/billing/usage/store/usage-counter.ts'
import { receiptCounter } from '../../../src/storage/counts/count.ts'
import { countStore } from '../../../src/storage/counts/store.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { prng } from '../../ledger/prng.ts'
import { allRuns, pricedBuiltins } from '../../support/runs.ts'
import { engines, usd, type World, world } from '../../support/world.ts'
import { addReceipts, countAll, countedAndFresh, linesOf } from './receipts.ts'

const day = 86_400_000
const start = Date.UTC(2026, 10, 20, 12)

describe.each(engines)('counting receipts on %s', (engine) => {
  let w: World
  beforeAll(async () => {
    w = await world({ engine, now: start, toml: pricedBuiltins })
  }, 60_000)
  afterAll(() => w.stop())

  test('costs no write while there is nothing to count', async () => {
    for (let i = 0; i < 5; i++) await receiptCounter(w.deps)()
    const { leases, facts } = w.db.tables
    const held = await w.db.read((q) => rows(q.select().from(leases)))
    expect(held.filter((lease) => lease.name === 'counts')).toEqual([])
    const known = await w.db.read((q) => rows(q.select().from(facts)))
    expect(known.filter((fact) => fact.name.startsWith('usage.'))).toEqual([])
  })

  test('counts what ran, however it ended, once', async () => {
    const { secret: key } = await w.key({ balance: 10n * usd })
    const body = { model: 'counterfoil/echo-1', messages: [{ role: 'user', content: 'one two' }] }
    for (let i = 0; i < 5; i++) await w.call('/v1/chat/completions', { key, json: body })
    await w.call('/v1/embeddings', { key, json: { model: 'counterfoil/embed-1', input: 'a b' } })
    await w.deps.sequencer.flush()
    await countAll(w)
    await countAll(w)
    const { counted, fresh, finelyCounted, finelyFresh } = await countedAndFresh(w)
    expect(finelyCounted).toEqual(finelyFresh)
    expect(counted).toEqual(fresh)
    expect(counted.map((row) => [row.model, row.runs, row.succeeded])).toEqual([
      ['counterfoil/echo-1', 5, 5],
      ['counterfoil/embed-1', 1, 1],
    ])
  })

  test('gives the sums of a fresh count, no matter what comes between what', async () => {
    const dice = prng(4663)
    const nodes = ['node_a', 'node_b', 'node_c'].map((node) =>
      countStore(w.db, { clock: w.deps.clock, node }, [usageCounter(w.db)]),
    )
    let at = start
    for (let step = 0; step < 60; step++) {
      const news = Array.from({ length: dice.below(40) }, () => {
        // Days come out of order too: clocks differ between nodes.
        at += dice.below(day / 20) - day / 100
        const status = dice.pick(['succeeded', 'succeeded', 'failed', 'cancelled'] as const)
        return {
          accountId: dice.pick(['0xa', '0xb']),
          keyId: dice.pick(['key_1', 'key_2', 'key_3']),
          model: dice.pick(['m/1', 'm/2']),
          finishedAt: at,
          status,
          lines: status === 'failed' ? [] : linesOf(dice.below(1000), dice.below(1000)),
        }
      })
      const counting = nodes.map(async (node) => {
        if (dice.below(2) === 0 || !(await node.waits())) return
        const lease = await node.takeLease()
        if (lease) await node.count(lease, 1 + dice.below(50)).catch(leaseLost)
      })
      await Promise.all([addReceipts(w, news), ...counting])
      if (dice.below(4) === 0) w.advance(11_000)
    }
    w.advance(11_000)
    await countAll(w)
    const { counted, fresh, finelyCounted, finelyFresh } = await countedAndFresh(w)
    expect(counted.length).toBeGreaterThan(20)
    expect(finelyCounted.quarters.length).toBeGreaterThan(counted.length)
    expect(finelyCounted).toEqual(finelyFresh)
    expect(counted).toEqual(fresh)
  }, 60_000)

  test('marks where in the log each day is', async () => {
    const marks = await w.deps.usage.marks()
    for (const run of await allRuns(w)) {
      const span = marks.get((run.finishedAt ?? 0) - ((run.finishedAt ?? 0) % day))
      expect(run.logPlace).toBeGreaterThanOrEqual(span?.start ?? Number.NaN)
      expect(run.logPlace).toBeLessThan(span?.end ?? Number.NaN)
    }
  })
})

/** On PostgreSQL a node may find that another took over: its whole batch is dropped. */
function leaseLost(error: unknown): void {
  expect(String(error)).toContain('the lease counts was lost')
}
