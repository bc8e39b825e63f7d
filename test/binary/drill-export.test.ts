import { expect, test } from 'bun:test'
import { drillExport } from '../../drills/export.ts'
import { noBinary } from '../support/binary.ts'

// `bun run drill export` does the same with a million.
test.skipIf(noBinary)(
  'exports of 3,000 runs: the same bytes twice, sums as the ledger, no formula, all of FOCUS',
  async () => {
    const { exported, faults } = await drillExport(3_000)
    expect(faults).toEqual([])
    expect(exported.map(({ format, records }) => [format, records])).toEqual([
      ['csv', 2_700],
      ['jsonl', 2_701],
      ['focus', 5_404],
    ])
  },
  60_000,
)
