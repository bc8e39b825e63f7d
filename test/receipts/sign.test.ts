import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { runIdOf } from '../../src/proof/receipts/receipt.ts'
import { backgroundSigner } from '../../src/proof/receipts/sign.ts'
import { engines, usd, type World, world } from '../support/world.ts'

for (const engine of engines) {
  describe(`the background signer on ${engine}`, () => {
    let w: World
    let secret: string

    beforeAll(async () => {
      w = await world({ engine })
      secret = (await w.key({ balance: 10n * usd })).secret
    })
    afterAll(() => w.stop())

    /** Runs one, numbers it, and gives its id and its place. */
    const run = async (): Promise<{ id: string; place: number }> => {
      const json = { model: 'counterfoil/echo-1', input: 'hello' }
      const answer = await w.call('/v1/runs', { key: secret, json })
      const { receipt } = (await answer.json()) as { receipt: { id: string } }
      await w.deps.sequencer.flush()
      const found = await w.deps.runs.find(runIdOf(receipt.id))
      return { id: receipt.id, place: found?.logPlace ?? -1 }
    }
    const isSigned = async (id: string): Promise<boolean> => {
      const found = await w.deps.receipts.find(id)
      return found?.signature !== null
    }

    test('signs every receipt that is numbered, of later ones too', async () => {
      const sign = backgroundSigner(w.deps)
      const first = await run()
      await sign()
      expect(await isSigned(first.id)).toBe(true)
      const second = await run()
      await sign()
      expect(await isSigned(second.id)).toBe(true)
    })

    test('after a restart it goes on at the place that was noted', async () => {
      const before = await run()
      const after = await run()
      await w.deps.receipts.noteSignedUpTo(after.place)
      await backgroundSigner(w.deps)()
      expect(await isSigned(before.id)).toBe(false)
      expect(await isSigned(after.id)).toBe(true)
      await w.deps.receipts.noteSignedUpTo(before.place)
      await backgroundSigner(w.deps)()
      expect(await isSigned(before.id)).toBe(true)
    })
  })
}
