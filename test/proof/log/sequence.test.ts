import { afterEach, expect, test } from 'bun:test'
import { Refusal } from '../../../src/kernel/refusal.ts'
import { logStore } from '../../../src/proof/log/store.ts'
import { engines, sharedEngines, usd, type World, world } from '../../support/world.ts'

let w: World
afterEach(() => w.stop())

const run = { model: 'counterfoil/echo-1', input: 'hello' }

test.each(engines)(
  'on %s a clock that jumps past the lease keeps no receipt waiting',
  async (engine) => {
    w = await world({ engine, now: Date.UTC(2026, 5, 1) })
    const { secret: key } = await w.key({ balance: usd })
    for (const jump of [0, 60_000, 86_400_000]) {
      w.advance(jump)
      const { receipt } = await (await w.call('/v1/runs', { key, json: run })).json()
      // What began before the run's own wake-up ends with it numbered.
      await w.deps.sequencer.flush()
      expect((await w.deps.receipts.find(receipt.id))?.logPlace).toBeNumber()
      expect((await w.call(`/v1/receipts/${receipt.id}/proof`)).status).toBe(200)
    }
  },
  30_000,
)

test.each(sharedEngines)(
  'on %s runs wait on if the log is closed while they are being numbered',
  async (engine) => {
    w = await world({ engine })
    const { deps, db } = w
    await deps.sequencer.stop()
    const { secret: key } = await w.key({ balance: usd })
    const { receipt } = await (await w.call('/v1/runs', { key, json: run })).json()
    const { clock } = deps
    const start = deps.logs.current.start
    const store = logStore(db, { clock, node: 'other', start })
    const lease = await store.takeLease()
    if (!lease) throw new Error('no lease')
    // As after a lost connection, which comes between two statements.
    let looks = 0
    const closed = () => (++looks === 2 ? new Refusal('unavailable') : undefined)
    store.guardBy({ closed, forgot: () => {} })
    expect(await store.number(lease, 100)).toBe(0)
    expect(looks).toBe(2)
    expect(await store.number(lease, 100)).toBe(1)
    expect((await deps.receipts.find(receipt.id))?.logPlace).toBeNumber()
  },
  30_000,
)
