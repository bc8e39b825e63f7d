import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Refusal } from '../../../src/kernel/refusal.ts'
import {
  assertUnbroken,
  checkpointOver,
  keepCheckpoint,
  signCheckpoint,
} from '../../../src/proof/log/checkpoint.ts'
import { checkpointStore } from '../../../src/proof/log/store/checkpoint.ts'
import { outcomeOf } from '../../support/rejection.ts'
import { engines, freshDb, usd, type World, world } from '../../support/world.ts'

describe('a log of which more was signed than is there', () => {
  let w: World
  beforeAll(async () => {
    w = await world()
    const { secret: key } = await w.key({ balance: usd })
    for (let i = 0; i < 3; i++) {
      const json = { model: 'counterfoil/echo-1', input: `hello ${i}` }
      expect((await w.call('/v1/runs', { key, json })).status).toBe(200)
    }
    await w.deps.sequencer.flush()
  })
  afterAll(() => w.stop())

  const refused = async (ask: () => Promise<unknown>) => {
    try {
      await ask()
      return 'nothing'
    } catch (error) {
      if (error instanceof Refusal) return error.type
      throw error
    }
  }
  /** The same service, with another word on what was signed last or how many leaves there are. */
  const told = (last: object | undefined, size?: number) => ({
    ...w.deps,
    checkpoints: {
      ...w.deps.checkpoints,
      latest: async (issuer: string) => {
        const found = await w.deps.checkpoints.latest(issuer)
        return found && { ...found, ...last }
      },
    },
    ...(size === undefined ? {} : { logStore: { ...w.deps.logStore, size: async () => size } }),
  })

  test('is unbroken while nothing was signed, and while it begins with what was', async () => {
    expect(await w.deps.checkpoints.latest(w.deps.logs.current.origin)).toBeUndefined()
    expect(await refused(() => assertUnbroken(w.deps))).toBe('nothing')
    const signed = await signCheckpoint(w.deps)
    expect(signed?.size).toBe(await w.deps.logStore.size())
    expect(await refused(() => assertUnbroken(w.deps))).toBe('nothing')
    expect(await signCheckpoint(w.deps)).toEqual(signed)
  })

  test('is refused where it has less leaves, or another root', async () => {
    const size = await w.deps.logStore.size()
    const other = { root: new Uint8Array(32).fill(7) }
    expect(await refused(() => assertUnbroken(told({ size: size + 1 })))).toBe('log_diverged')
    expect(await refused(() => assertUnbroken(told(other)))).toBe('log_diverged')
    expect(await refused(() => signCheckpoint(told({ size: size + 1 })))).toBe('log_diverged')
    const shorter = { ...other, size: size - 1 }
    expect(await refused(() => signCheckpoint(told(shorter)))).toBe('log_diverged')
    expect(w.logged.filter(({ event }) => event === 'log.diverged').length).toBeGreaterThan(3)
    expect((await w.deps.checkpoints.latest(w.deps.logs.current.origin))?.size).toBe(size)
  })

  test('signs nothing for a leaf it does not have, nor of a log that was left', async () => {
    const { current } = w.deps.logs
    const size = await w.deps.logStore.size()
    expect((await checkpointOver(w.deps, current, size - 1)).size).toBe(size)
    expect(await outcomeOf(checkpointOver(w.deps, current, size))).toThrow('ends before its leaf')
    expect(await refused(() => checkpointOver(w.deps, { ...current }, size))).toBe('log_diverged')
  })

  test('is signed in the background by the node that numbers, where something is new', async () => {
    let asked = 0
    const store = (may: boolean) => ({
      ...w.deps.logStore,
      takeLease: async () => {
        asked += 1
        return may ? await w.deps.logStore.takeLease() : undefined
      },
    })
    await keepCheckpoint({ ...w.deps, logStore: store(true) })
    expect(asked).toBe(0)
    const { secret: key } = await w.key()
    await w.call('/v1/runs', { key, json: { model: 'counterfoil/echo-1', input: 'more' } })
    await w.deps.sequencer.flush()
    const size = await w.deps.logStore.size()
    const signed = async () => (await w.deps.checkpoints.latest(w.deps.logs.current.origin))?.size
    const before = await signed()
    if (before !== size) {
      await keepCheckpoint({ ...w.deps, logStore: store(false) })
      expect([asked, await signed()]).toEqual([1, before])
      await keepCheckpoint({ ...w.deps, logStore: store(true) })
    }
    expect(await signed()).toBe(size)
  })
})

describe.each(engines)('checkpoints kept on %s', (engine) => {
  let opened: Awaited<ReturnType<typeof freshDb>>
  beforeAll(async () => {
    opened = await freshDb(engine)
  }, 60_000)
  afterAll(async () => {
    await opened.db.close()
    await opened.drop()
  })
  const row = (issuer: string, size: number, root = 1) => ({
    ...{ issuer, size, root: new Uint8Array(32).fill(root), timestamp: 5 },
    signature: new Uint8Array(65).fill(size),
  })

  test('are found by log and size; of one size the first stands', async () => {
    const store = checkpointStore(opened.db, { wasSignedAgain: () => false })
    for (const [issuer, size] of [
      ['a', 3],
      ['a', 5],
      ['b', 4],
      ['b', 5],
    ] as const) {
      expect((await store.add(row(issuer, size))).size).toBe(size)
    }
    const stands = await store.add(row('b', 5, 2))
    expect([stands.issuer, stands.size, stands.root[0]]).toEqual(['b', 5, 1])
    const of = (found: { issuer: string; size: number } | undefined) =>
      found && `${found.issuer}${found.size}`
    expect(of(await store.latest('a'))).toBe('a5')
    expect(of(await store.latest('c'))).toBeUndefined()
    expect(of(await store.find('b', 4))).toBe('b4')
    expect(of(await store.find('a', 4))).toBeUndefined()
    expect(of(await store.firstOver('a', 2))).toBe('a3')
    expect(of(await store.firstOver('a', 3))).toBe('a5')
    expect(of(await store.firstOver('b', 3))).toBe('b4')
    expect(of(await store.firstOver('a', 5))).toBeUndefined()
  })
})

describe.each(engines)('heads that are signed at once, on %s', (engine) => {
  let w: World
  beforeAll(async () => {
    w = await world({ engine })
  }, 60_000)
  afterAll(() => w.stop())

  test('are one: every reader of a new receipt gets the same bytes', async () => {
    const { secret: key } = await w.key({ balance: usd })
    const json = { model: 'counterfoil/echo-1', input: 'hello' }
    for (let round = 0; round < 80; round++) {
      const { receipt } = await (await w.call('/v1/runs', { key, json })).json()
      const read = async () => (await w.call(`/v1/receipts/${receipt.id}`, { key })).text()
      const texts = await Promise.all(Array.from({ length: 6 }, read))
      expect(new Set(texts).size).toBe(1)
    }
  }, 60_000)
})
