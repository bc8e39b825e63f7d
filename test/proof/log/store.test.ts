import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { asc } from 'drizzle-orm'
import { ensureLogs } from '../../../src/proof/log/store/logs.ts'
import { readWholeLogs } from '../../../src/proof/log/store/whole.ts'
import { logStore } from '../../../src/proof/log/store.ts'
import { consistencyRanges, inclusionRanges, type Leaf } from '../../../src/proof/log/tree.ts'
import { openSqlite } from '../../../src/storage/db/engine/sqlite.ts'
import { insert, type Query, rows } from '../../../src/storage/db/sql/query-steps.ts'
import { leafKinds } from '../../../src/verify/merkle.ts'
import { newAccount } from '../../ledger/office.ts'
import { closeAll, freshFile, opened, openFile } from '../../storage/db/file.ts'
import { outcomeOf } from '../../support/rejection.ts'
import { allRuns } from '../../support/runs.ts'

setDefaultTimeout(60_000)

const leaf = (n: number): Leaf => ({ kind: leafKinds.receipt, digest: new Uint8Array(32).fill(n) })

let file: string
let office: ReturnType<typeof openFile>
beforeEach(async () => {
  file = freshFile()
  office = openFile(file)
  await office.db.write((q) => ensureLogs(office.db, q, 'a', 0))
})
afterEach(closeAll)

const storeOn = (db = office.db, start = 0) =>
  logStore(db, { clock: office.clock, node: 'test', start })
type Store = ReturnType<typeof storeOn>

const add = (store: Store, ...numbers: number[]) =>
  store.change((_, { append }) => append(() => numbers.map(leaf)))

/** A log that is whole, of so many leaves. */
const expectWhole = async (...sizes: number[]) => {
  const { logs, faults } = await readWholeLogs(office.db)
  expect([logs.map(({ size }) => size), faults]).toEqual([sizes, []])
}

const addPrices = (version: number) => {
  const list = { id: 'test', digest: '', content: `v${version}`, createdAt: 0, logPlace: null }
  return office.db.write(() => insert(office.db.tables.priceLists, [{ ...list, version }]))
}
const pricesAt = async () => {
  const { priceLists } = office.db.tables
  const ordered = (q: Query) => q.select().from(priceLists).orderBy(asc(priceLists.version))
  const lists = await office.db.read((q) => rows(ordered(q)))
  return lists.map(({ logPlace }) => logPlace)
}

describe('the log of a process that writes alone', () => {
  test('goes on behind what another process appended meanwhile', async () => {
    const store = storeOn()
    await add(store, 1, 2, 3)
    const other = openSqlite(file)
    opened.push(() => other.close())
    await add(storeOn(other), 4, 5)
    expect(await add(store, 6)).toMatchObject({ index: 5, place: 5 })
    await expectWhole(6)
  })

  test('knows nothing about what a transaction appended that was undone', async () => {
    const store = storeOn()
    await add(store, 1)
    const undone = store.change(function* (_, { append }) {
      yield* append(() => [leaf(2), leaf(3)])
      throw new Error('undone')
    })
    expect(await outcomeOf(undone)).toThrow('undone')
    expect(await add(store, 4)).toMatchObject({ index: 1 })
    await expectWhole(2)
  })

  test('numbers ended runs that wait, the oldest first, up to as many as it is to', async () => {
    const account = newAccount()
    await office.grant(account, 10n)
    const key = await office.key({ account })
    const held = [
      await office.hold(key, 0n),
      await office.hold(key, 0n),
      await office.hold(key, 0n),
    ]
    const open = await office.hold(key, 0n)
    for (const run of held) await office.end(run, 0n)
    const places = async () =>
      Object.fromEntries((await allRuns(office)).map(({ id, logPlace }) => [id, logPlace]))
    const ids = held.map(({ id }) => id).sort()
    const store = storeOn()
    const lease = await store.takeLease()
    if (!lease) throw new Error('no lease')
    expect(await store.number(lease, 2)).toBe(2)
    const [a = '', b = '', c = ''] = ids
    expect(await places()).toEqual({ [a]: 0, [b]: 1, [c]: null, [open.id]: null })
    await store.change((_, { numberWaiting }) => numberWaiting())
    expect(await places()).toEqual({ [a]: 0, [b]: 1, [c]: 2, [open.id]: null })
    expect(await store.number(lease, 2)).toBe(0)
    await expectWhole(3)
  })

  test('numbers nothing under a lease that another one has by now', async () => {
    const store = storeOn()
    const lease = await store.takeLease()
    if (!lease) throw new Error('no lease')
    await logStore(office.db, { clock: office.clock, node: 'other', start: 0 }).takeLease()
    expect(await outcomeOf(store.number(lease, 1))).toThrow('was lost')
  })

  test('logs the prices with its first leaf, and later ones when it is told to', async () => {
    const store = storeOn()
    await addPrices(1)
    await store.change((_, { appendPrices }) => appendPrices())
    expect(await pricesAt()).toEqual([null])
    expect(await add(store, 1)).toMatchObject({ index: 1 })
    expect(await pricesAt()).toEqual([0])
    await addPrices(2)
    await add(store, 2)
    expect(await pricesAt()).toEqual([0, null])
    await store.change((_, { appendPrices }) => appendPrices())
    expect(await pricesAt()).toEqual([0, 3])
    expect(await add(store, 3)).toMatchObject({ index: 4 })
    await expectWhole(5)
    await addPrices(4)
    await addPrices(3)
    await store.change((_, { appendPrices }) => appendPrices())
    expect(await pricesAt()).toEqual([0, 3, 5, 6])
    await expectWhole(7)
  })

  test('A reopened log starts after the old one and logs all prices again.', async () => {
    const store = storeOn()
    await addPrices(1)
    await add(store, 1, 2)
    const start = await store.change((_, { startNext }) => startNext(leaf(9)))
    expect(start).toBe(3)
    expect(await pricesAt()).toEqual([4])
    const next = { number: 2, origin: 'a#2', start, openedAt: 0, reason: 'test' }
    await office.db.write(() => insert(office.db.tables.logs, [next]))
    expect(await add(store, 3)).toMatchObject({ index: 2, place: 5 })
    await expectWhole(3, 3)
  })
})

describe('the log of one node of several', () => {
  test('reads its edge each time, and logs new prices before the next leaf', async () => {
    const shared = { ...office.db, exclusive: false }
    const [one, two] = [storeOn(shared), storeOn(shared)]
    await add(one, 1, 2, 3)
    await add(two, 4)
    await addPrices(1)
    expect(await add(one, 5)).toMatchObject({ index: 5 })
    expect(await pricesAt()).toEqual([4])
    await expectWhole(6)
  })
})

describe('what exists no proof of', () => {
  test.each([
    [3, 3],
    [4, 3],
    [-1, 3],
    [0, 0],
    [Number.NaN, 3],
  ])('leaf %p in a tree of %p leaves', (index, size) => {
    expect(() => inclusionRanges(index, size)).toThrow(RangeError)
  })

  test.each([
    [0, 3],
    [-1, 3],
    [4, 3],
    [Number.NaN, 3],
  ])('that a tree of %p leaves begins one of %p', (first, second) => {
    expect(() => consistencyRanges(first, second)).toThrow(RangeError)
  })

  test('but the ends of what exists are proven', () => {
    expect(inclusionRanges(0, 1)).toEqual([])
    expect(inclusionRanges(2, 3)).toEqual([{ from: 0, to: 2 }])
    expect(consistencyRanges(3, 3)).toEqual([])
    expect(consistencyRanges(1, 2)).toEqual([{ from: 1, to: 2 }])
  })
})
