import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { toHex } from '../../../src/kernel/hex.ts'
import { sizeFact } from '../../../src/proof/log/store/leaf.ts'
import { readWholeLogs } from '../../../src/proof/log/store/whole.ts'
import { append, emptyFrontier, type Leaf, rootOf } from '../../../src/proof/log/tree.ts'
import { writeFact } from '../../../src/storage/db/sql/facts.ts'
import { insert } from '../../../src/storage/db/sql/query-steps.ts'
import { leafKinds } from '../../../src/verify/merkle.ts'
import { freshDb } from '../../support/world.ts'

setDefaultTimeout(60_000)

const leaves = (count: number): Leaf[] =>
  Array.from({ length: count }, (_, n) => ({
    kind: leafKinds.receipt,
    digest: new Uint8Array(32).fill(n),
  }))
const rootAt = (count: number) => rootOf(append(emptyFrontier, leaves(count)).frontier)
const other = new Uint8Array(32).fill(7)

let opened: Awaited<ReturnType<typeof freshDb>>
beforeEach(async () => {
  opened = await freshDb('sqlite')
})
afterEach(async () => {
  await opened.db.close()
  await opened.drop()
})

type Stored = ReturnType<typeof append>['stored']

/** A database with one log of so many leaves, of which something may be changed before. */
async function keep(count: number, change = (stored: Stored) => stored, size = count) {
  const { db } = opened
  await db.write(function* () {
    yield* insert(db.tables.logLeaves, change(append(emptyFrontier, leaves(count)).stored))
    const log = { number: 1, origin: 'a', start: 0, openedAt: 0, reason: '' }
    yield* insert(db.tables.logs, [log])
    yield* writeFact(db, sizeFact, String(size))
  })
}
const sign = (size: number, root: Uint8Array, issuer = 'a') => {
  const signed = { issuer, size, root, timestamp: 0, signature: new Uint8Array(65) }
  return opened.db.write(() => insert(opened.db.tables.logCheckpoints, [signed]))
}
const faults = async () => (await readWholeLogs(opened.db)).faults

describe('a reading of all leaves', () => {
  test('finds nothing in a database without a log', async () => {
    expect(await readWholeLogs(opened.db)).toEqual({ logs: [], faults: [] })
  })

  test.each([0, 1, 5, 2000, 2001])('finds nothing wrong with a log of %p leaves', async (count) => {
    await keep(count)
    if (count > 0) await sign(count, rootAt(count))
    const root = toHex(rootAt(count))
    expect(await readWholeLogs(opened.db)).toEqual({
      logs: [{ origin: 'a', size: count, root }],
      faults: [],
    })
  })

  test('finds that a log has another size than is said about it', async () => {
    await keep(3, undefined, 4)
    expect(await faults()).toEqual(['the log a has 3 leaves, not 4'])
  })

  test('finds a leaf that is missing', async () => {
    await keep(4, (stored) => stored.filter(({ idx }) => idx !== 2), 3)
    expect(await faults()).toContain('the log a lacks its leaf 2')
  })

  test('finds a subtree that is not that of its leaves', async () => {
    await keep(4, (stored) => {
      const last = stored.at(-1)
      last?.hashes.set(other, 32)
      return stored
    })
    expect(await faults()).toEqual(['leaf 3 of a is damaged: it has other subtrees'])
  })

  test('finds a root that was signed and is not there, and one beyond the end', async () => {
    await keep(4)
    await sign(2, rootAt(2))
    await sign(3, other)
    await sign(5, rootAt(5))
    await sign(4, other, 'another log')
    expect(await faults()).toEqual([
      'the root of a at 3 leaves is not the one that was signed',
      'a was signed with 5 leaves',
    ])
  })

  test('reads each of several logs from its start to its end', async () => {
    await keep(3)
    const { db } = opened
    const second = append(emptyFrontier, leaves(2)).stored.map((one) => ({
      ...one,
      idx: one.idx + 3,
    }))
    await db.write(function* () {
      yield* insert(db.tables.logLeaves, second)
      const log = { number: 2, origin: 'a#2', start: 3, openedAt: 0, reason: '' }
      yield* insert(db.tables.logs, [log])
      yield* writeFact(db, sizeFact, '2')
    })
    await sign(3, rootAt(3))
    await sign(2, rootAt(2), 'a#2')
    expect(await readWholeLogs(db)).toEqual({
      logs: [
        { origin: 'a', size: 3, root: toHex(rootAt(3)) },
        { origin: 'a#2', size: 2, root: toHex(rootAt(2)) },
      ],
      faults: [],
    })
  })
})
