import { beforeAll, describe, expect, test } from 'bun:test'
import type { Row } from '../../drills/fault-tools.ts'
import { drillFaults, everyFault } from '../../drills/faults.ts'
import { noBinary } from '../support/binary.ts'

/** One of each sort. `bun run drill faults` does all of them. */
const chosen: [promise: string, fault: string][] = [
  ['a sync that fails is no success, and nothing is written after it', 'fsync:error=EIO:when=4'],
  ['killed at a sync, it holds what was acknowledged, once', 'fsync:signal=KILL:when=5'],
  ['a file system that is really full is a 503 that passes by itself', 'full disk'],
  ['a log that cannot be written ends nothing', 'full log'],
  ['a database that is deleted is found out, and not made anew', 'deleted'],
  ['a damaged page stops money and names the command', 'pages'],
]

describe.skipIf(noBinary)('with a broken disk under the executable', () => {
  const rows: Row[] = []

  beforeAll(async () => {
    const faults = chosen.flatMap(([, name]) => everyFault.filter((one) => one.name === name))
    rows.push(...(await drillFaults(faults)).rows)
  }, 180_000)

  test.each(chosen)('%s', (promise, name) => {
    const row = rows[chosen.findIndex((one) => one[1] === name)]
    if (row?.skipped !== undefined) console.log(`skipped: ${promise}: ${row.skipped}`)
    expect(row?.faults).toEqual([])
  })
})
