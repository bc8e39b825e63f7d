import { describe, expect, spyOn, test } from 'bun:test'
import { type BatchLimits, makeBatchQueue } from '../../src/ledger/batch-queue.ts'

type Waiting = { command: { account: string }; id: number }
type Flight = { ids: number[]; land(): Promise<void> }

/** BatchLimits whose batches take their commands at once and land when the test says so. */
function openLanes(lanes: BatchLimits) {
  const flights: Flight[] = []
  const watchers: (() => void)[] = []
  const { add } = makeBatchQueue<Waiting>(lanes, async (take) => {
    const landing = Promise.withResolvers<void>()
    const land = async (): Promise<void> => {
      landing.resolve()
      await Bun.sleep(0)
    }
    flights.push({ ids: take().map(({ id }) => id), land })
    for (const seen of watchers) seen()
    await landing.promise
  })
  let id = 0
  const post = (account: string): number => {
    add({ command: { account }, id: ++id })
    return id
  }
  const flew = async (count: number): Promise<void> => {
    const seen = Promise.withResolvers<void>()
    watchers.push(() => flights.length >= count && seen.resolve())
    if (flights.length < count) await seen.promise
  }
  return { flights, post, flew, ids: () => flights.map(({ ids }) => ids) }
}

/** The batches of so many commands of so many accounts, which come at once. */
async function batchesOf(count: number, accounts: number): Promise<number[][]> {
  const batches: number[][] = []
  const done = Promise.withResolvers<void>()
  const { add } = makeBatchQueue<Waiting>({ quick: 2, most: 8 }, async (take) => {
    // As a server, which lets a transaction begin a little later.
    await Bun.sleep(0)
    batches.push(take().map(({ id }) => id))
    if (batches.flat().length === count) done.resolve()
  })
  for (let id = 0; id < count; id++) add({ command: { account: `x${id % accounts}` }, id })
  await done.promise
  return batches
}

describe('batches', () => {
  test('what arrives while one is in flight forms the next, where there is one lane', async () => {
    const { flights, post, ids } = openLanes({ quick: 1, most: 1 })
    for (const account of ['a', 'b', 'a', 'c']) post(account)
    expect(ids()).toEqual([[1]])
    await flights[0]?.land()
    expect(ids()).toEqual([[1], [2, 3, 4]])
  })

  test('commands of one account wait for those before them, and overtake none', async () => {
    const { flights, post, ids } = openLanes({ quick: 2, most: 8 })
    for (const account of ['a', 'a', 'b', 'a', 'b']) post(account)
    expect(ids()).toEqual([[1], [3]])
    await flights[1]?.land()
    expect(ids()).toEqual([[1], [3], [5]])
    await flights[0]?.land()
    expect(ids()).toEqual([[1], [3], [5], [2, 4]])
  })

  test('no third one begins while two are quick', () => {
    const { post, ids } = openLanes({ quick: 2, most: 8 })
    for (const account of ['a', 'b', 'c', 'd']) post(account)
    expect(ids()).toEqual([[1], [2]])
  })

  test('others go on beside slow ones, but not beside more than may be', async () => {
    const { flights, post, flew, ids } = openLanes({ quick: 2, most: 4 })
    for (const account of ['a', 'b', 'c']) post(account)
    await flew(3)
    expect(ids()).toEqual([[1], [2], [3]])
    for (const account of ['a', 'd', 'e']) post(account)
    await flew(4)
    // Of the account that is slow nothing goes.
    expect(ids()[3]).toContain(5)
    expect(ids().flat()).not.toContain(4)
    await Bun.sleep(100)
    post('f')
    expect(ids()).toHaveLength(4)
    await flights[3]?.land()
    await flew(5)
    expect(ids()[4]).toContain(7)
  })

  test('one that was slow counts no longer when it is over, and a quick one never did', async () => {
    const { flights, post, flew, ids } = openLanes({ quick: 2, most: 8 })
    for (const account of ['a', 'b', 'c']) post(account)
    await flew(3)
    for (const flight of flights) await flight.land()
    post('a')
    await flights[3]?.land()
    await Bun.sleep(100)
    for (const account of ['a', 'b', 'c']) post(account)
    expect(ids().flat()).toEqual([1, 2, 3, 4, 5, 6])
  })

  test('one beside a slow one leaves half to the next quick one', async () => {
    const batches: number[][] = []
    const done = Promise.withResolvers<void>()
    const { add } = makeBatchQueue<Waiting>({ quick: 2, most: 8 }, async (take) => {
      await Bun.sleep(0)
      batches.push(take().map(({ id }) => id))
      if (batches.flat().length > 80) done.resolve()
      await done.promise
    })
    add({ command: { account: 'slow' }, id: 0 })
    await Bun.sleep(100)
    for (let id = 1; id <= 80; id++) add({ command: { account: `x${id}` }, id })
    await done.promise
    expect(batches.map((ids) => ids.length)).toEqual([1, 40, 40])
  })

  test('one that may go beside another leaves it half of the accounts', async () => {
    const even = Array.from({ length: 50 }, (_, i) => i)
    expect(await batchesOf(200, 100)).toEqual([
      [...even, ...even.map((id) => id + 100)],
      [...even.map((id) => id + 50), ...even.map((id) => id + 150)],
    ])
  })

  test('one that may go beside another is not halved below 32 commands', async () => {
    expect((await batchesOf(40, 40)).map((ids) => ids.length)).toEqual([32, 8])
  })

  test('one account fills a batch alone', async () => {
    const { flights, post, ids } = openLanes({ quick: 2, most: 8 })
    for (let i = 0; i < 200; i++) post('hot')
    await flights[0]?.land()
    expect(ids()[1]).toHaveLength(128)
    await flights[1]?.land()
    expect(ids()[2]).toHaveLength(71)
  })
})

describe('company', () => {
  /** One lane after a batch of so many commands, while a next one is in flight. */
  async function after(company: number) {
    const lane = openLanes({ quick: 1, most: 1 })
    for (let i = 0; i <= company; i++) lane.post('a')
    lane.flights[0]?.land()
    await untimed()
    expect(lane.ids().map((ids) => ids.length)).toEqual([1, company])
    return lane
  }

  test('after a batch of four the next command waits a moment for others', async () => {
    const { flights, post, flew, ids } = await after(4)
    flights[1]?.land()
    await untimed()
    post('a')
    post('b')
    expect(ids()).toHaveLength(2)
    await flew(3)
    expect(ids()[2]).toEqual([6, 7])
  })

  test.each([
    [1, 2],
    [3, 4],
    [4, 4],
    [9, 4],
  ])('while each of %d waits brings one more it waits again: %d waits', async (bringing, waits) => {
    const { flights, post, flew, ids } = await after(4)
    flights[1]?.land()
    await untimed()
    let waited = 0
    using _ = spyOn(Bun, 'sleep').mockImplementation(async () => {
      waited++
      if (waited <= bringing) post('a')
    })
    post('a')
    await flew(3)
    expect(waited).toBe(waits)
    expect(ids()[2]).toHaveLength(1 + Math.min(bringing, waits))
  })

  test('after a batch of three a lone command does not wait', async () => {
    const { flights, post, ids } = await after(3)
    flights[1]?.land()
    await untimed()
    post('a')
    expect(ids()[2]).toEqual([5])
  })

  test.each([
    [31, 2],
    [32, 3],
  ])('%d that wait already are a batch of their own: %d begin', async (waiting, batches) => {
    const { flights, post, flew, ids } = await after(4)
    for (let i = 0; i < waiting; i++) post('a')
    flights[1]?.land()
    await untimed()
    expect(ids()).toHaveLength(batches)
    await flew(3)
    expect(ids()[2]).toHaveLength(waiting)
  })
})

/** Lets everything go on that waits for no timer. */
async function untimed(): Promise<void> {
  for (let i = 0; i < 50; i++) await undefined
}
