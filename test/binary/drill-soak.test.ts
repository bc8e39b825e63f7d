import { expect, test } from 'bun:test'
import { drillSoak } from '../../drills/soak.ts'
import { noBinary } from '../support/binary.ts'
import { promise } from '../support/promise.ts'

promise`K20`
// `bun run drill soak` does the same for half an hour.
test.skipIf(noBinary)(
  'some seconds of everything at once: every answer is the expected one, and the money adds up',
  async () => {
    const { samples, faults } = await drillSoak({ minutes: 0.1, perSecond: 40 })
    expect(faults).toEqual([])
    expect(samples.reduce((sum, { asked }) => sum + asked, 0)).toBeGreaterThan(50)
  },
  120_000,
)
