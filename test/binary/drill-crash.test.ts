import { expect, test } from 'bun:test'
import { drillCrash } from '../../drills/crash.ts'
import { points } from '../../drills/crash-points.ts'
import { noBinary } from '../support/binary.ts'
import { nightly } from '../support/nightly.ts'

const rounds = nightly(points.length, 100)

// `bun run drill crash` does the same for longer; the nightly tier kills a hundred times.
test.skipIf(noBinary)(
  'kills in the middle of runs lose nothing and charge nothing twice; 1,000 at once never overspend',
  async () => {
    const { killed } = await drillCrash({ rounds, crowds: 0, only: 'points' })
    const { crowded } = await drillCrash({ rounds: 0, crowds: 1, only: 'crowds' })
    expect([...killed, ...crowded].flatMap(({ faults }) => faults)).toEqual([])
    expect(killed).toHaveLength(rounds)
    expect(killed.some(({ asked, broken }) => asked > broken)).toBe(true)
    expect(killed.some(({ interrupted }) => interrupted > 0)).toBe(true)
    expect(crowded.map(({ paid, refused }) => [paid, refused])).toEqual([
      [50, 950],
      [50, 950],
      [50, 950],
    ])
  },
  nightly(240_000, 1_800_000),
)
