import { expect, test } from 'bun:test'
import { drillShare } from '../../drills/share.ts'
import { noBinary } from '../support/binary.ts'
import { fault, promise } from '../support/promise.ts'

promise`D23 H: One account cannot take all places.`
fault`30`
// `bun run drill share` does the same with 1,000.
test.skipIf(noBinary)(
  '200 stalled streams of one key leave the runs of another account alone',
  async () => {
    const { shared, faults } = await drillShare(200)
    expect(faults).toEqual([])
    // By nothing, by the places of the upstream, by those of the server: an account gets 8 of 9.
    expect(shared.map(({ stalled, refused }) => [stalled, refused])).toEqual([
      [200, 0],
      [89, 111],
      [89, 111],
    ])
  },
  120_000,
)
