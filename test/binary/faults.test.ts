import { beforeAll, describe, expect, test } from 'bun:test'
import type { Row } from '../../drills/fault-tools.ts'
import { drillFaults, everyFault } from '../../drills/faults.ts'
import { noBinary } from '../support/binary.ts'
import { fault, promise } from '../support/promise.ts'

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

  promise`K6 C: A disk that fails to sync is told as a failure, and no success follows it.`
  fault`10: a sync fails → no success is told, nothing is written any more, reads go on [crash,
    faults fsync:error=EIO, faults every write EIO]`
  test('After a failed sync the server reports no success and writes nothing more.', () =>
    expectNone('fsync:error=EIO:when=4'))

  promise`K3`
  test('killed at a sync, it holds what was acknowledged, once', () =>
    expectNone('fsync:signal=KILL:when=5'))

  promise`K5`
  fault`12: the disk of the database is full → 503, reads go on; over by itself when there is room
    [crash, faults full disk, faults every write ENOSPC]`
  test('a file system that is really full is a 503 that passes by itself', () =>
    expectNone('full disk'))

  promise`K9`
  fault`17: the database is deleted under the server → found out within seconds; writes stop; no
    new one is made [faults deleted]`
  test('a database that is deleted is found out, and not made again', () => expectNone('deleted'))

  promise`K8`
  fault`15: pages of the database are overwritten → money routes are 503, the log names what to do,
    nothing is repaired in silence [faults pages]`
  test('a damaged page stops money and names the command', () => expectNone('pages'))
})
