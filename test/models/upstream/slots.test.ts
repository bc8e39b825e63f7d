import { describe, expect, test } from 'bun:test'
import { Slots } from '../../../src/models/upstream/slots.ts'

const never = new AbortController().signal

/** Places and who got one, in order. No one waits as long as `maxWaitMs` unless told otherwise. */
function setUp(most: number, maxWaitMs = 60_000) {
  const slots = new Slots({ most, maxWaitMs })
  const held: { account: string; release(): void }[] = []
  const failed: string[] = []
  const take = async (account: string, signal = never) => {
    try {
      const request = { account, hasPlace: false }
      await slots.take(request, signal)
      held.push({ account, release: () => slots.release(request) })
    } catch (error) {
      failed.push(`${account} ${Reflect.get(error as object, 'reason')}`)
    }
  }
  const names = () => held.map(({ account }) => account)
  return { slots, held, failed, take, names }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

describe('places of an upstream', () => {
  test('are given at once while there are some', () => {
    const { slots } = setUp(4)
    for (let i = 1; i <= 4; i++) {
      const request = { account: 'a', hasPlace: false }
      expect(slots.take(request, never)).toBeUndefined()
      expect(request.hasPlace).toBe(true)
      expect(slots.taken).toBe(i)
    }
  })

  test('given back twice, a place is one', () => {
    const { slots } = setUp(4)
    const request = { account: 'a', hasPlace: false }
    slots.take(request, never)
    slots.take({ account: 'a', hasPlace: false }, never)
    slots.release(request)
    slots.release(request)
    expect(slots.taken).toBe(1)
  })

  test('go to the caller with the fewest, then to the one that waits longest', async () => {
    const { take, held, names, slots } = setUp(4)
    for (const account of ['a', 'a', 'a', 'b']) await take(account)
    for (const account of ['a', 'a', 'b', 'c', 'd']) void take(account)
    expect(slots.waiting).toBe(5)
    for (let i = 0; i < 5; i++) {
      held[i]?.release()
      await settled()
    }
    // a has two left, then one, then none; b ends, and c.
    expect(names().slice(4)).toEqual(['c', 'd', 'a', 'b', 'a'])
    expect([slots.taken, slots.waiting]).toEqual([4, 0])
  })

  test('are there for one account although another asked for all of them', async () => {
    const { take, names, failed, slots } = setUp(200)
    for (let i = 0; i < 1000; i++) void take('greedy')
    await settled()
    expect(names()).toEqual(Array(178).fill('greedy'))
    for (let i = 0; i < 10; i++) void take('other')
    await settled()
    expect(names().slice(178)).toEqual(Array(10).fill('other'))
    // The queue is as long as the places are many, and shared by the same rule.
    expect(slots.waiting).toBe(178)
    expect(failed).toEqual(Array(1000 - 2 * 178).fill('greedy share'))
  })

  test('that are all taken are waited for, but not for ever', async () => {
    const { take, failed, slots } = setUp(1, 1)
    await take('a')
    await take('b')
    await take('a')
    expect(failed).toEqual(['b busy', 'a busy'])
    expect([slots.taken, slots.waiting]).toEqual([1, 0])
  })

  test('are not waited for by a client that is gone', async () => {
    const { take, held, failed, slots, names } = setUp(2)
    for (const account of ['a', 'a']) await take(account)
    const gone = new AbortController()
    const waiting = [take('b', gone.signal), take('c')]
    gone.abort()
    await waiting[0]
    expect(failed).toEqual(['b aborted'])
    expect(slots.waiting).toBe(1)
    held[0]?.release()
    await waiting[1]
    expect(names()).toEqual(['a', 'a', 'c'])
    await take('d', gone.signal)
    expect(failed).toEqual(['b aborted', 'd aborted'])
    expect([slots.taken, slots.waiting]).toEqual([2, 0])
  })

  test('add up after any order of taking, giving back and going away', async () => {
    const { slots, held, take, failed } = setUp(20)
    const gone: AbortController[] = []
    let seed = 4663
    const random = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed % below
    }
    for (let i = 0; i < 5000; i++) {
      const step = random(3)
      if (step === 0) held.splice(random(held.length || 1), 1)[0]?.release()
      else if (step === 1) gone.splice(random(gone.length || 1), 1)[0]?.abort()
      else {
        const abort = new AbortController()
        gone.push(abort)
        void take(`account ${random(7)}`, abort.signal)
      }
      if (i % 50 === 0) await settled()
      expect(slots.taken).toBeLessThanOrEqual(20)
      expect(slots.waiting).toBeLessThanOrEqual(128)
    }
    for (const abort of gone) abort.abort()
    await settled()
    expect(slots.taken).toBe(held.length)
    for (const { release } of held) release()
    expect([slots.taken, slots.waiting]).toEqual([0, 0])
    expect(failed.length).toBeGreaterThan(0)
  })
})
