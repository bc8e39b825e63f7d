import { expect, test } from 'bun:test'
import { drillHostile } from '../../drills/hostile.ts'
import { noBinary } from '../support/binary.ts'

// `bun run drill hostile` does the same with ten accounts for ten minutes.
test.skipIf(noBinary)(
  'four hostile accounts use up what they may keep, and a paying one is served beside them',
  async () => {
    const wish = { accounts: 4, minutes: 0.3, writes: 300, bytes: 1024 * 1024 }
    const { faults, statuses, paid } = await drillHostile(wish)
    expect(faults).toEqual([])
    expect(statuses.get(429)).toBeGreaterThan(20)
    expect(paid).toBeGreaterThan(20)
  },
  300_000,
)
