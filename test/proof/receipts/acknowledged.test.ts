import { expect, test } from 'bun:test'
import { type Acknowledgement, makeAcknowledged } from '../../../src/proof/receipts/acknowledged.ts'

const ended = (n: number): Acknowledgement => ({
  runId: `run_${n}`,
  digest: new Uint8Array([n]),
  cost: 0n,
  at: n,
})

test('the newest acknowledgements are kept in their order, and no more than the limit', () => {
  const acknowledged = makeAcknowledged(3)
  expect(acknowledged.all()).toEqual([])
  const known = [1, 2, 3, 4, 5].map((n) => {
    acknowledged.add(ended(n))
    return acknowledged.all().map(({ at }) => at)
  })
  expect(known).toEqual([[1], [1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 5]])
})
