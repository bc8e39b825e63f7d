import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { toUsd } from '../../src/kernel/money.ts'
import { promise } from '../support/promise.ts'
import { allRuns, expectSettled, lastRun, pricedBuiltins } from '../support/runs.ts'
import { engines, usd, type World, world } from '../support/world.ts'

const otherAccount = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'

for (const engine of engines) {
  describe(`402, the purse that refuses, on ${engine}`, () => {
    let w: World
    let hold: bigint
    let cost: bigint

    beforeAll(async () => {
      // A Wednesday.
      w = await world({ engine, toml: pricedBuiltins, now: Date.UTC(2026, 6, 15, 12) })
      const { secret } = await w.key({ balance: 10n * usd })
      expect((await run(secret)).status).toBe(200)
      const first = await lastRun(w)
      hold = first.hold
      cost = first.cost
    })
    afterAll(async () => {
      await expectSettled(w)
      await w.stop()
    })

    const run = (key: string, content = 'one two three') => {
      const messages = [{ role: 'user', content }]
      const json = { model: 'counterfoil/echo-1', messages, max_tokens: 10 }
      return w.call('/v1/chat/completions', { key, json })
    }
    const refusalOf = async (key: string) => {
      const before = (await allRuns(w)).length
      const answer = await run(key)
      expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([402, 'false'])
      expect((await allRuns(w)).length).toBe(before)
      const { error } = await answer.json()
      return { type: error.type, message: error.message, ...error.metadata }
    }

    test('a cap of exactly the hold is enough, one nano-dollar less is not', async () => {
      expect((await run((await w.key({ capLimit: hold })).secret)).status).toBe(200)
      const { secret, key } = await w.key({ capLimit: hold - 1n })
      expect(await refusalOf(secret)).toEqual({
        type: 'cap_exceeded',
        message:
          'This run may cost $0.000015, and key test has $0.000014 left. ' +
          'Lower max_tokens to 9, send X-Counterfoil-Fit: true, or raise the cap.',
        limited_by: 'key',
        blocking_key_id: key.id,
        required_nusd: Number(hold),
        required_usd: toUsd(hold),
        available_nusd: Number(hold - 1n),
        available_usd: toUsd(hold - 1n),
        held_nusd: 0,
        held_usd: '0.00',
        max_affordable_output_tokens: 9,
        resets_at: null,
        top_up_url: `${w.origin}/dashboard/deposits`,
      })
    })

    test('a window says when it resets, and then it has room again', async () => {
      const windows = {
        day: '2026-07-16T00:00:00.000Z',
        week: '2026-07-20T00:00:00.000Z',
        month: '2026-08-01T00:00:00.000Z',
      } as const
      for (const [capWindow, resetsAt] of Object.entries(windows)) {
        const wish = { capWindow: capWindow as keyof typeof windows, capLimit: hold }
        const { secret } = await w.key(wish)
        expect((await run(secret)).status).toBe(200)
        expect(await refusalOf(secret)).toMatchObject({
          limited_by: 'key',
          available_nusd: Number(hold - cost),
          resets_at: resetsAt,
        })
      }
      const { secret } = await w.key({ capWindow: 'day', capLimit: hold })
      await run(secret)
      await refusalOf(secret)
      w.advance(12 * 3_600_000)
      expect((await run(secret)).status).toBe(200)
    })

    test('of several the key is named before its ancestors, the nearest first, balance last', async () => {
      const make = (capLimit: bigint, parentId?: string) =>
        w.key({ account: otherAccount, capLimit, ...(parentId ? { parentId } : {}) })
      const top = await make(hold - 3n)
      const middle = await make(hold - 3n, top.key.id)
      const child = await make(hold - 3n, middle.key.id)
      expect(await refusalOf(child.secret)).toMatchObject({
        type: 'cap_exceeded',
        limited_by: 'key',
        blocking_key_id: child.key.id,
      })
      const root = await make(hold)
      const low = await make(hold, root.key.id)
      const leaf = await make(hold, low.key.id)
      expect(await refusalOf(leaf.secret)).toMatchObject({
        type: 'insufficient_balance',
        limited_by: 'balance',
        blocking_key_id: null,
        available_nusd: 0,
        max_affordable_output_tokens: 0,
      })
      await w.key({ account: otherAccount, balance: usd })
      expect((await run(low.secret)).status).toBe(200)
      expect(await refusalOf(leaf.secret)).toMatchObject({
        type: 'cap_exceeded',
        limited_by: 'ancestor',
        blocking_key_id: low.key.id,
      })
    })

    test('max_cost_per_run of a key, and of a key above it, refuses the single run', async () => {
      const parent = await w.key({ maxCostPerRun: hold - 1n })
      const child = await w.key({ parentId: parent.key.id })
      expect(await refusalOf(parent.secret)).toMatchObject({
        type: 'cap_exceeded',
        message: expect.stringContaining('and key test lets a single run cost $0.0000'),
        limited_by: 'max_cost_per_run',
        blocking_key_id: parent.key.id,
        required_nusd: Number(hold),
        available_nusd: Number(hold - 1n),
        max_affordable_output_tokens: 9,
        resets_at: null,
      })
      expect(await refusalOf(child.secret)).toMatchObject({
        message: expect.stringContaining(`and key ${parent.key.id} lets a single run cost`),
        limited_by: 'max_cost_per_run',
        blocking_key_id: parent.key.id,
      })
      expect((await run((await w.key({ maxCostPerRun: hold })).secret)).status).toBe(200)
    })

    test('a spend is charged to the key, to every ancestor and to the account', async () => {
      const parent = await w.key({})
      const child = await w.key({ parentId: parent.key.id })
      const grandchild = await w.key({ parentId: child.key.id })
      const balance = async () =>
        (await (await w.call('/v1/balance', { key: parent.secret })).json()).balance_nusd
      const before = await balance()
      expect((await run(grandchild.secret)).status).toBe(200)
      for (const { secret } of [parent, child, grandchild]) {
        const { cap } = await (await w.call('/v1/keys/self', { key: secret })).json()
        expect(cap).toMatchObject({ spent_nusd: Number(cost), held_nusd: 0 })
      }
      expect(await balance()).toBe(before - Number(cost))
    })

    promise`D10 H: The price of a run is the one of its hold.`
    test('the price of a run is fixed by its hold: the receipt names the list', async () => {
      const { secret } = await w.key({})
      const answer = await run(secret)
      const id = answer.headers.get('x-receipt-id')
      const file = await (await w.call(`/v1/receipts/${id}`, { key: secret })).json()
      const { price_list } = await (await w.call('/v1/models')).json()
      expect(file.receipt.charge.priceList).toBe(`${price_list.id}@${price_list.version}`)
    })
  })
}
