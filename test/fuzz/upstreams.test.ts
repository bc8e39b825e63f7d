import { expect, test } from 'bun:test'
import { testBounds } from './run.ts'
import { tryUpstreams } from './try-upstreams.ts'

test('whatever an upstream answers, a run ends, its hold is settled, and nobody sees a 500', async () => {
  const { faults } = await tryUpstreams(4663, { inputs: 250 }, testBounds)
  expect(faults).toEqual([])
}, 60_000)
