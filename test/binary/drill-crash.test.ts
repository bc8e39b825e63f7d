import { expect, test } from 'bun:test'
import { drillCrash } from '../../drills/crash.ts'
import { points } from '../../drills/crash-points.ts'
import { noBinary } from '../support/binary.ts'
import { nightly } from '../support/nightly.ts'
import { fault, promise } from '../support/promise.ts'

const rounds = nightly(points.length, 100)

promise`K2 C: A kill at any moment loses nothing that was acknowledged and repeats nothing.`
promise`K3 C: Runs of a process that died are ended by the next one, once: before it is ready, or of
  very many the rest beside its clients.`
fault`2`
fault`3: killed in the middle of a stream → the same, also when the restart is killed too [crash,
  recover, faults recovery]`
fault`5: killed while it ends the runs of before → the next start ends the others, each once [faults
  recovery, recover]`
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
