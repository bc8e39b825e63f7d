import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import artefact from '../../../contracts/AnchorRegistry.json' with { type: 'json' }
import type { Hex } from '../../../src/kernel/hex.ts'
import { deployStep } from '../../../src/proof/anchors/deploy.ts'
import { syncAnchors } from '../../../src/proof/anchors/sync.ts'
import { watchChain } from '../../../src/proof/anchors/watch.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { noAnvil } from '../../contracts/anvil.ts'
import { outcomeOf } from '../../support/rejection.ts'
import { type Anchored, anchoredWorld, worldOn } from './anchored.ts'

describe.skipIf(noAnvil)('anchors are read from the chain again', () => {
  let a: Anchored
  beforeAll(async () => {
    a = await anchoredWorld()
    for (let i = 0; i < 4; i++) {
      await a.receipts(3)
      a.advance(10_000)
      await a.look(3)
    }
  }, 60_000)
  afterAll(() => a.stop())

  const sync = async (fromBlock = 0) => {
    const lease = await a.deps.anchors.takeLease()
    const seen = await watchChain(a.deps)
    if (!lease || !seen) throw new Error('the chain does not answer')
    return syncAnchors(a.deps, seen, { lease, fromBlock })
  }

  test('nothing is to be repaired where all is known', async () => {
    await a.rpc('anvil_mine', '0x3')
    await a.look()
    const before = await a.anchors()
    expect(await sync()).toEqual({ found: 4, repaired: 0, diverged: [] })
    expect(await a.anchors()).toEqual(before)
  })

  test('those that a restored database does not know, or knows as something older, are repaired', async () => {
    const before = (await (await a.call('/v1/anchors')).json()).data
    const { anchors } = a.db.tables
    const forgotten = eq(anchors.id, before[0].id)
    const stale = eq(anchors.id, before[1].id)
    await a.db.write(function* (q) {
      yield* rows(q.delete(anchors).where(forgotten).returning())
      const older = { status: 'submitted', txHash: null, blockHash: null } as const
      yield* rows(q.update(anchors).set(older).where(stale).returning())
    })
    expect(await sync()).toEqual({ found: 4, repaired: 2, diverged: [] })
    const after = (await (await a.call('/v1/anchors')).json()).data
    const shown = (all: { size: number; status: string; tx_hash: string; root: string }[]) =>
      all.map(({ size, status, tx_hash, root }) => [size, status, tx_hash, root])
    expect(shown(after)).toEqual(shown(before))
  })

  test('beginning too late is said, not taken for all', async () => {
    const { block_number } = (await (await a.call('/v1/anchors')).json()).data[0]
    expect(await outcomeOf(sync(block_number))).toThrow('counts 4 anchors, but 1')
  })

  test('a log that lacks what is anchored is told where', async () => {
    const old = await worldOn({ urls: [a.chain.url], registry: a.registry.address })
    const lease = await old.deps.anchors.takeLease()
    const seen = await watchChain(old.deps)
    if (!lease || !seen) throw new Error('the chain does not answer')
    const { diverged, repaired } = await syncAnchors(old.deps, seen, { lease, fromBlock: 0 })
    expect([diverged.length, repaired]).toEqual([4, 0])
    expect(await old.anchors()).toEqual([])
    await old.stop()
  })
})

describe.skipIf(noAnvil)('a registry is deployed', () => {
  test('by one transaction, also when the process ended in between', async () => {
    const a = await anchoredWorld()
    const { chain, sender } = a.deps.anchoring
    if (!chain || !sender) throw new Error('anchoring is off')
    await a.rpc('evm_setAutomine', false)
    const step = () => deployStep(a.deps, { chain, sender }, artefact.bytecode as Hex)
    // Anyone who comes later finds what was written down before it was sent.
    expect([await step(), await step()]).toEqual([undefined, undefined])
    await a.rpc('anvil_mine', '0x1')
    const deployed = await step()
    expect(deployed).toMatchObject({ gasUsed: 1_204_224n })
    expect(await step()).toEqual(deployed)
    expect((await a.transactions()).map(({ purpose }) => purpose)).toEqual(['deploy'])
    await a.stop()
  }, 60_000)
})
