import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Deps } from '../../../src/app/deps-port.ts'
import { keepAnchored } from '../../../src/proof/anchors/publish.ts'
import { anchorStore } from '../../../src/proof/anchors/store.ts'
import { leaseMs } from '../../../src/storage/db/engine/lease-clock.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { noAnvil } from '../../contracts/anvil.ts'
import { outcomeOf } from '../../support/rejection.ts'
import { sharedEngines } from '../../support/world.ts'
import { type Anchored, anchoredWorld } from './anchored.ts'

for (const engine of sharedEngines) {
  describe.skipIf(noAnvil)(`two nodes on one ${engine}`, () => {
    let a: Anchored
    let other: Deps
    beforeAll(async () => {
      a = await anchoredWorld({ engine })
      const anchors = anchorStore(a.db, { clock: a.deps.clock, node: 'node_other' })
      other = { ...a.deps, anchors }
    }, 60_000)
    afterAll(() => a.stop())

    const both = async (times: number): Promise<void> => {
      for (let i = 0; i < times; i++) {
        await Promise.all([keepAnchored(a.deps), keepAnchored(other)])
      }
    }

    test('one of them anchors, and each head once', async () => {
      for (let round = 1; round <= 3; round++) {
        await a.receipts(2)
        a.advance(leaseMs)
        await both(4)
        expect((await a.anchors()).length).toBe(round)
      }
      const nonces = (await a.transactions()).map(({ nonce }) => nonce)
      expect(nonces).toEqual([0, 1, 2, 3])
    }, 60_000)

    test('when the one that anchors stops, the other goes on with what it left', async () => {
      await a.receipts(2)
      a.advance(leaseMs)
      await a.rpc('evm_setAutomine', false)
      await keepAnchored(a.deps)
      expect((await a.anchors()).at(-1)).toStartWith('submitted')
      a.advance(leaseMs - 1)
      await keepAnchored(other)
      expect((await a.anchors()).at(-1)).toStartWith('submitted')
      a.advance(1)
      await a.rpc('anvil_mine', '0x1')
      await keepAnchored(other)
      expect((await a.anchors()).at(-1)).toStartWith('confirmed')
      await a.rpc('evm_setAutomine', true)
    }, 60_000)

    test('one that slept past its lease writes nothing when it wakes up', async () => {
      await a.receipts(2)
      a.advance(leaseMs)
      const slow = await a.deps.anchors.takeLease()
      if (!slow) throw new Error('another node holds the lease')
      a.advance(leaseMs)
      await keepAnchored(other)
      const before = await a.db.read((q) => rows(q.select().from(a.db.tables.anchors)))
      const [row] = before
      expect(await outcomeOf(a.deps.anchors.putBack(slow, row?.id ?? '', 'late'))).toThrow('lost')
      expect(await a.db.read((q) => rows(q.select().from(a.db.tables.anchors)))).toEqual(before)
    }, 60_000)
  })
}
