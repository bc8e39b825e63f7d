import { expect, test } from 'bun:test'
import { nightly } from '../support/nightly.ts'
import { promise } from '../support/promise.ts'
import { testBounds } from './run.ts'
import { tryUpstreams } from './try-upstreams.ts'

promise`D16`
test(
  'whatever an upstream answers, a run ends, its hold is settled, and nobody sees a 500',
  async () => {
    const { faults } = await tryUpstreams(4663, { inputs: nightly(250, 2500) }, testBounds)
    expect(faults).toEqual([])
  },
  nightly(60_000, 600_000),
)
