import { describe, expect, test } from 'bun:test'
import { openLeaseClock } from '../../../src/storage/db/engine/lease-clock.ts'
import { promise } from '../../support/promise.ts'
import { outcomeOf } from '../../support/rejection.ts'

/** A process and a server, whose clocks and whose distance a test holds in its hand. */
function machines() {
  const state = {
    wall: 1_000_000,
    monotonic: 0,
    server: 5_000_000,
    thereMs: 0,
    backMs: 0,
    isDown: false,
  }
  const pass = (ms: number): void => {
    state.wall += ms
    state.monotonic += ms
    state.server += ms
  }
  let lost = (): void => {}
  const db = {
    readClock: async () => {
      pass(state.thereMs)
      const at = state.server
      pass(state.backMs)
      if (state.isDown) throw new Error('the server is down')
      return at
    },
    onConnectionLost: (listener: () => void) => {
      lost = listener
    },
  }
  const clock = { now: () => state.wall, monotonic: () => state.monotonic }
  return { state, pass, db, clock, lose: () => lost() }
}

describe('the clock of leases', () => {
  promise`N2`
  test('is the server’s, counted on without asking, wherever the wall clock jumps', async () => {
    const { state, pass, db, clock } = machines()
    const leases = await openLeaseClock(db, clock)
    expect([leases.now(), leases.aheadMs()]).toEqual([5_000_000, -4_000_000])
    pass(2500)
    state.wall -= 3_600_000
    expect([leases.now(), leases.aheadMs()]).toEqual([5_002_500, -7_600_000])
  })

  test('takes half of the way there and back off what the server says', async () => {
    const { state, db, clock } = machines()
    Object.assign(state, { thereMs: 400, backMs: 400 })
    const leases = await openLeaseClock(db, clock)
    expect(leases.now()).toBe(state.server)
  })

  test('follows a server whose clock was set, and a process whose monotonic clock stood still', async () => {
    const { state, pass, db, clock } = machines()
    const leases = await openLeaseClock(db, clock)
    state.server += 7000
    expect(leases.now()).toBe(state.server - 7000)
    await leases.measure()
    expect(leases.now()).toBe(state.server)
    pass(10)
    state.server -= 7000
    await leases.measure()
    expect(leases.now()).toBe(state.server)
  })

  test('keeps a good reading when a slow answer says no more than that', async () => {
    const { state, db, clock } = machines()
    const leases = await openLeaseClock(db, clock)
    for (const trip of [{ thereMs: 1800 }, { thereMs: 0, backMs: 1800 }]) {
      Object.assign(state, trip)
      await leases.measure()
      expect(leases.now()).toBe(state.server)
    }
  })

  promise`N2`
  test('is read again before a lease after a connection broke, and only then', async () => {
    const { state, db, clock, lose } = machines()
    const leases = await openLeaseClock(db, clock)
    state.server += 5000
    await leases.refresh()
    expect(leases.now()).toBe(state.server - 5000)
    lose()
    state.isDown = true
    expect(await outcomeOf(leases.refresh())).toThrow('down')
    state.isDown = false
    await leases.refresh()
    expect(leases.now()).toBe(state.server)
  })

  test('is steady once it was seen for the length of a lease without a jump or a gap', async () => {
    const { state, pass, db, clock } = machines()
    const leases = await openLeaseClock(db, clock)
    const go = async (ms: number) => {
      for (let left = ms; left > 0; left -= 3000) {
        pass(Math.min(left, 3000))
        await leases.measure()
      }
    }
    expect(leases.isSteady()).toBe(false)
    await go(12_000)
    expect(leases.isSteady()).toBe(true)
    for (const jump of [25_000, -25_000]) {
      state.server += jump
      await leases.measure()
      expect(leases.isSteady()).toBe(false)
      // Drift is not a jump.
      state.server += 500
      await go(9000)
      expect(leases.isSteady()).toBe(false)
      await go(3000)
      expect(leases.isSteady()).toBe(true)
    }
    pass(8000)
    expect(leases.isSteady()).toBe(false)
    await leases.measure()
    expect(leases.isSteady()).toBe(false)
    await go(12_000)
    expect(leases.isSteady()).toBe(true)
  })

  test('is that of the process on SQLite', async () => {
    const { state, clock } = machines()
    const onConnectionLost = () => {}
    const leases = await openLeaseClock({ onConnectionLost }, clock)
    expect([leases.now(), leases.aheadMs()]).toEqual([state.wall, null])
    expect(leases.isSteady()).toBe(true)
  })
})
