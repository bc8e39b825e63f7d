import { beforeAll, describe, expect, test } from 'bun:test'
import type { Row } from '../../drills/fault-tools.ts'
import { drillFaults, everyFault } from '../../drills/faults.ts'
import { noBinary } from '../support/binary.ts'

/** One of each sort, on one service. `bun run drill faults` does all of them. */
const chosen = [
  'fsync:error=EIO:when=4',
  'fsync:signal=KILL:when=5',
  'full disk',
  'deleted',
  'pages',
]

describe.skipIf(noBinary)('under a broken disk', () => {
  const found = new Map<string, Row | undefined>()

  beforeAll(async () => {
    const faults = everyFault.filter(({ name }) => chosen.includes(name))
    const { rows } = await drillFaults(faults)
    for (const [i, { name }] of faults.entries()) found.set(name, rows[i])
  }, 180_000)

  const expectNone = (name: string) => {
    const row = found.get(name)
    if (row?.skipped !== undefined) console.log(`skipped: ${name}: ${row.skipped}`)
    expect(row?.faults).toEqual([])
  }

  test('a sync that fails is no success, and nothing is written after it', () =>
    expectNone('fsync:error=EIO:when=4'))

  test('killed at a sync, it holds what was acknowledged, once', () =>
    expectNone('fsync:signal=KILL:when=5'))

  test('a file system that is really full is a 503 that passes by itself', () =>
    expectNone('full disk'))

  test('a database that is deleted is found out, and not made anew', () => expectNone('deleted'))

  test('a damaged page stops money and names the command', () => expectNone('pages'))
})
