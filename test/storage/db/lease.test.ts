import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Db } from '../../../src/storage/db/engine/db.ts'
import { assertLease, type Lease, takeLease } from '../../../src/storage/db/engine/lease.ts'
import { leaseMs } from '../../../src/storage/db/engine/lease-clock.ts'
import { findFact, writeFact } from '../../../src/storage/db/sql/facts.ts'
import { heldClock } from '../../ledger/office.ts'
import { outcomeOf } from '../../support/rejection.ts'
import { engines, freshDb } from '../../support/world.ts'

describe.each(engines)('a lease on %s', (engine) => {
  let db: Db
  let close: () => Promise<void>
  beforeAll(async () => {
    const fresh = await freshDb(engine)
    db = fresh.db
    close = async () => {
      await db.close()
      await fresh.drop()
    }
  }, 30_000)
  afterAll(() => close())

  const clock = heldClock()
  const pass = (ms: number) => clock.set(clock.now() + ms)
  const take = (name: string, holder: string) => takeLease(db, clock, name, holder)
  /** Work of a singleton: it writes, and only then looks whether it still may. */
  const work = (lease: Lease | undefined, words: string) =>
    db.write(function* () {
      if (!lease) throw new Error('no lease')
      yield* writeFact(db, `work.${lease.name}`, words)
      yield* assertLease(db, lease, clock.now())
    })

  test('is renewed by its holder with the same epoch', async () => {
    expect(await take('renewed', 'a')).toEqual({ name: 'renewed', epoch: 1 })
    pass(leaseMs * 3)
    expect(await take('renewed', 'a')).toEqual({ name: 'renewed', epoch: 1 })
  })

  test('lets its holder write until it ends, and not from then on', async () => {
    const lease = await take('ends', 'a')
    pass(leaseMs - 1)
    await work(lease, 'in time')
    pass(1)
    expect(await outcomeOf(work(lease, 'too late'))).toThrow('the lease ends was lost')
    expect(await findFact(db, 'work.ends')).toBe('in time')
  })

  test('fences a holder that slept: what it wrote is undone with its transaction', async () => {
    const slow = await take('fenced', 'a')
    await work(slow, 'of a')
    pass(leaseMs)
    const next = await take('fenced', 'b')
    expect(next).toEqual({ name: 'fenced', epoch: 2 })
    await work(next, 'of b')
    expect(await outcomeOf(work(slow, 'of a, late'))).toThrow('the lease fenced was lost')
    expect(await findFact(db, 'work.fenced')).toBe('of b')
    // Not even when the sleeper's clock says that there is time left.
    clock.set(clock.now() - leaseMs)
    expect(await outcomeOf(work(slow, 'of a, by its clock'))).toThrow('the lease fenced was lost')
    clock.set(clock.now() + leaseMs)
    expect(await findFact(db, 'work.fenced')).toBe('of b')
  })

  test('of a name that was held before has a new epoch for each new holder', async () => {
    const epochs: (number | undefined)[] = []
    for (const holder of ['a', 'b', 'a', 'b']) {
      epochs.push((await take('grows', holder))?.epoch)
      pass(leaseMs)
    }
    expect(epochs).toEqual([1, 2, 3, 4])
  })

  if (engine === 'sqlite') {
    test('is taken at once where this process owns the file: who held it is dead', async () => {
      await take('owned', 'before the crash')
      expect(await take('owned', 'after')).toEqual({ name: 'owned', epoch: 2 })
    })
    return
  }

  test('A lease that is held cannot be taken until it ends.', async () => {
    await take('held', 'a')
    expect(await take('held', 'b')).toBeUndefined()
    pass(leaseMs - 1)
    expect(await take('held', 'b')).toBeUndefined()
    pass(1)
    expect(await take('held', 'b')).toEqual({ name: 'held', epoch: 2 })
    expect(await take('held', 'a')).toBeUndefined()
  })

  test('asked for by twenty at once, the first time and after its end, goes to one', async () => {
    const holders = Array.from({ length: 20 }, (_, i) => `node ${i}`)
    for (let round = 0; round < 5; round++) {
      for (const epoch of [1, 2]) {
        const taken = await Promise.all(holders.map((holder) => take(`race ${round}`, holder)))
        const won = taken.filter((lease) => lease !== undefined)
        expect(won.length).toBe(1)
        expect([epoch, 1]).toContain(won[0]?.epoch ?? 0)
        pass(leaseMs)
      }
    }
  })
})
