import { expect, test } from 'bun:test'
import { liabilityPublisher } from '../../../src/proof/liabilities/publish-liabilities.ts'
import { leavesFor } from '../../../src/storage/liabilities/leaves.ts'
import { world } from '../../support/world.ts'
import { fund } from './publishing.ts'

test('A tree has a power of two of leaves, 256 at least', () => {
  expect([1, 256, 257, 512, 513, 100_000].map(leavesFor)).toEqual([
    256, 256, 512, 512, 1024, 131_072,
  ])
})

test('A new service publishes its liabilities after its first day, and not before', async () => {
  const w = await world({ now: Date.UTC(2026, 10, 20, 12) })
  try {
    await fund(w, [5n])
    const job = liabilityPublisher(w.deps)
    const { signal } = new AbortController()
    w.advance(3_600_000)
    await job(signal)
    expect(await w.deps.liabilities.newest()).toBeUndefined()
    w.advance(11 * 3_600_000)
    await job(signal)
    expect((await w.deps.liabilities.newest())?.statement.total_nusd).toBe('5')
  } finally {
    await w.stop()
  }
})
