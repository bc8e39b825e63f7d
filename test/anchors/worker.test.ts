import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { noAnvil } from '../contracts/anvil.ts'
import { engines } from '../support/world.ts'
import { type Anchored, anchoredWorld, senderAddress } from './anchored.ts'

for (const engine of engines) {
  describe.skipIf(noAnvil)(`the anchor worker on ${engine}`, () => {
    let a: Anchored
    beforeAll(async () => {
      a = await anchoredWorld({ engine })
    }, 60_000)
    afterAll(() => a.stop())

    test('a receipt is logged, anchored, confirmed, final, and its proof says so at each step', async () => {
      const id = await a.receipts(1)
      const steps: string[] = []
      for (let i = 0; i < 6; i++) {
        await a.look()
        steps.push((await a.anchors()).join())
        console.log(steps, await a.status(), (await a.proof(id)).anchor)
        await a.rpc('evm_mine')
      }
    })
  })
}
