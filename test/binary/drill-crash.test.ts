import { expect, test } from 'bun:test'
import { drillCrash } from '../../drills/crash.ts'
import { noBinary } from '../support/binary.ts'
import { nightly } from '../support/nightly.ts'

const rounds = nightly(5, 100)

// `bun run drill crash --rounds 200` does the same for longer; the nightly tier kills a hundred times.
test.skipIf(noBinary)(
  'kills in the middle of runs lose nothing and charge nothing twice; 1,000 at once never overspend',
  async () => {
    const { killed, crowded } = await drillCrash({ rounds, crowds: 1 })
    expect([...killed, ...crowded].flatMap(({ faults }) => faults)).toEqual([])
    expect(killed).toHaveLength(rounds)
    const last = killed.at(-1)
    expect(last?.acknowledged).toBeGreaterThan(0)
    expect(last?.interrupted).toBeGreaterThan(0)
    expect(crowded.map(({ paid, refused }) => [paid, refused])).toEqual([
      [50, 950],
      [50, 950],
      [50, 950],
    ])
  },
  nightly(240_000, 1_800_000),
)
