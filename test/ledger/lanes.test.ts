import { describe, expect, test } from 'bun:test'
import { type Lanes, makeLanes } from '../../src/ledger/lanes.ts'

type Waiting = { command: { account: string }; id: number }
type Flight = { ids: number[]; land(): Promise<void> }

/** Lanes whose batches take their commands at once and land when the test says so. */
function openLanes(lanes: Lanes) {
  const flights: Flight[] = []
  const watchers: (() => void)[] = []
  const { add } = makeLanes<Waiting>(lanes, async (take) => {
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
    const { post, flew, ids } = openLanes({ quick: 2, most: 4 })
    for (const account of ['a', 'b', 'c']) post(account)
    await flew(3)
    expect(ids()).toEqual([[1], [2], [3]])
    for (const account of ['a', 'd', 'e']) post(account)
    await flew(4)
    // Of the account that is slow nothing goes.
    expect(ids()[3]).toContain(5)
    expect(ids().flat()).not.toContain(4)
    await Bun.sleep(100)
    expect(ids()).toHaveLength(4)
  })

  test('one that may go beside another leaves it half of the accounts', async () => {
    const batches: number[][] = []
    const done = Promise.withResolvers<void>()
    const { add } = makeLanes<Waiting>({ quick: 2, most: 8 }, async (take) => {
      // As a server, which lets a transaction begin a little later.
      await Bun.sleep(0)
      batches.push(take().map(({ id }) => id))
      if (batches.flat().length === 100) done.resolve()
    })
    for (let id = 0; id < 100; id++) add({ command: { account: `x${id % 50}` }, id })
    await done.promise
    const even = Array.from({ length: 25 }, (_, i) => i)
    expect(batches).toEqual([
      [...even, ...even.map((id) => id + 50)],
      [...even.map((id) => id + 25), ...even.map((id) => id + 75)],
    ])
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
