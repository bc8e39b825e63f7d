import { afterEach, expect, test } from 'bun:test'
import { engines, usd, type World, world } from '../support/world.ts'

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
