import { beforeAll, describe, expect, test } from 'bun:test'
import { nightly } from '../support/nightly.ts'
import { promise } from '../support/promise.ts'
import { families } from './families.ts'
import { heapMiB, inputOf, must, type Target, testBounds, tryTarget } from './run.ts'

/** Always the same, so that what fails once fails again; `bun run drill fuzz` takes others. */
const seed = 4663
const inputs = nightly(120, 2000)
/** The nightly tier weighs each reader; otherwise all are weighed together, which is much faster. */
const bounds = nightly({ ...testBounds, mostMiB: Number.POSITIVE_INFINITY }, testBounds)

const named = Object.entries(families).flatMap(([family, targets]) =>
  targets.map((target) => [`${family}: ${target.name}`, target] as const),
)

promise`G6`
describe('every reader takes what comes from outside, or refuses it as it says', () => {
  let before: number
  beforeAll(() => {
    before = heapMiB()
  })

  test.each(named)(
    '%s',
    async (_, target) => {
      const { faults } = await tryTarget(target, seed, { inputs }, bounds)
      expect(faults).toEqual([])
    },
    120_000,
  )

  test('and together they keep no more memory than one of them may', () => {
    expect(heapMiB() - before).toBeLessThan(testBounds.mostMiB)
  })
})

describe('the search itself', () => {
  const isBroken: Target = {
    name: 'broken',
    good: ['{"a":1}'],
    read: (text) => must(!text.includes('\ud800'), 'it takes every text'),
  }

  test('finds what breaks, names its input, and makes that input again', async () => {
    const { faults } = await tryTarget(isBroken, seed, { inputs: 3000 })
    const [, number] = /4663\/(\d+): threw Error: the reader breaks/.exec(faults[0] ?? '') ?? []
    expect(inputOf(isBroken, seed, Number(number))).toContain('\ud800')
  })

  test('says which good input is refused', async () => {
    const target: Target = { ...isBroken, good: ['\ud800'] }
    expect((await tryTarget(target, seed, { inputs: 0 })).faults[0]).toContain('good input 0')
  })

  test('finds what takes long, and what stays behind', async () => {
    const kept: unknown[] = []
    const slow: Target = {
      name: 'slow',
      good: ['x'],
      read() {
        for (const end = performance.now() + 30; performance.now() < end; ) Math.sqrt(2)
        kept.push(Array.from({ length: 300_000 }, (_, i) => ({ i })))
      },
    }
    const { faults } = await tryTarget(slow, seed, { inputs: 1 }, { mostMs: 5, mostMiB: 4 })
    expect(faults.join()).toMatch(/took \d+ ms.*keeps \d+ MiB/)
    expect(kept.length).toBeGreaterThan(0)
  })
})
