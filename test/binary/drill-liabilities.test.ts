import { expect, test } from 'bun:test'
import { drillLiabilities, engines } from '../../drills/liabilities.ts'
import { nightly } from '../support/nightly.ts'
import { promise } from '../support/promise.ts'

promise`D59`
// `bun run drill liabilities` kills at every call.
test(
  'a killed publication leaves one right statement a day, and its leaf once, on both engines',
  async () => {
    const strides = { steps: nightly(9, 1), calls: nightly(90, 3) }
    const { killed, faults } = await drillLiabilities({ accounts: 20, strides, large: 0 })
    expect(faults).toEqual([])
    for (const engine of engines) {
      const [steps, calls] = killed.filter((one) => one.engine === engine)
      expect(steps?.hit).toBe(steps?.rounds ?? 0)
      expect(steps?.hit).toBeGreaterThan(steps?.made ?? 0)
      expect(steps?.made).toBeGreaterThan(0)
      // The last process outlived its number of calls.
      expect(calls?.hit).toBe(Math.max(0, (calls?.rounds ?? 0) - 1))
    }
  },
  nightly(240_000, 1_800_000),
)
