import { expect, test } from 'bun:test'
import { drillDemo } from '../../drills/demo.ts'
import { noBinary } from '../support/binary.ts'
import { promise } from '../support/promise.ts'

promise`R1`
// `bun run drill demo` does the same with 200 visitors for ten minutes.
test.skipIf(noBinary)(
  '20 visitors of the demonstration live through a reset, and nothing is left of it',
  async () => {
    const wish = { visitors: 20, minutes: 0.3, resets: 1, pauseMs: 500 }
    const { faults, seen } = await drillDemo(wish)
    expect(faults).toEqual([])
    expect(seen.pages).toBeGreaterThan(50)
  },
  300_000,
)
