import { expect, test } from 'bun:test'
import { nightly } from '../support/nightly.ts'
import { promise } from '../support/promise.ts'
import { testBounds } from './run.ts'
import { tryUpstreams } from './try-upstreams.ts'

promise`D16`
test(
  'Every run ends, its hold settled and without a 500, after any answer of an upstream.',
  async () => {
    const { faults } = await tryUpstreams(4663, { inputs: nightly(250, 2500) }, testBounds)
    expect(faults).toEqual([])
  },
  nightly(60_000, 600_000),
)
