/** The concurrent requests of an upstream, shared fairly between accounts. */
import { mayTake } from '../../kernel/fair-share.ts'
import type { StopSignal } from '../../kernel/stop.ts'
import { UpstreamFailure } from './upstream.ts'

/** Gives a place back; more than once does nothing. */
export type Release = () => void

/** The places for requests in flight at one upstream. */
export type Slots = {
  /**
   * Takes a place, after waiting for one where there is none.
   * @throws UpstreamFailure `share` or `busy` when none came free in time or too many wait already,
   * `aborted` when `signal` did.
   */
  take(account: string, signal: StopSignal): Release | Promise<Release>
  readonly taken: number
  readonly waiting: number
  readonly most: number
}

/** What one account has here; forgotten when that is nothing. */
type Owner = { taken: number; waiting: Set<Waiter> }

type Waiter = { since: number; grant(): void }

/**
 * Places that accounts share fairly. While there are enough, requests pass at once. When they are
 * scarce, {@link mayTake} keeps some back for others, a place that comes free goes to the account
 * that has the fewest, and of those to the longest wait. As many may wait as have a place (and
 * 128 at least), each for `maxWaitMs` at most; that queue is shared by the same rule.
 */
export function upstreamSlots({ most, maxWaitMs }: { most: number; maxWaitMs: number }): Slots {
  const mostWaiting = Math.max(most, 128)
  const owners = new Map<string, Owner>()
  let taken = 0
  let waiting = 0
  let turn = 0

  const occupy = (account: string, owner: Owner): Release => {
    taken++
    owner.taken++
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      taken--
      owner.taken--
      forgetIdle(account, owner)
      handOut()
    }
  }

  const forgetIdle = (account: string, owner: Owner): void => {
    if (owner.taken === 0 && owner.waiting.size === 0) owners.delete(account)
  }

  function handOut(): void {
    while (waiting > 0 && taken < most) {
      const next = nextOf(owners.values(), most - taken)
      if (!next) return
      next.grant()
    }
  }

  function wait(account: string, owner: Owner, signal: StopSignal): Promise<Release> {
    const { promise, resolve, reject } = Promise.withResolvers<Release>()
    const leave = (): void => {
      clearTimeout(tooLong)
      signal.removeEventListener('abort', onAbort)
      if (owner.waiting.delete(waiter)) waiting--
    }
    const giveUp = (failure: UpstreamFailure): void => {
      leave()
      forgetIdle(account, owner)
      reject(failure)
    }
    const onAbort = () => giveUp(new UpstreamFailure('aborted'))
    const onTimeout = () => giveUp(new UpstreamFailure(taken < most ? 'share' : 'busy'))
    const waiter: Waiter = {
      since: turn++,
      grant() {
        leave()
        resolve(occupy(account, owner))
      },
    }
    const tooLong = setTimeout(onTimeout, maxWaitMs)
    signal.addEventListener('abort', onAbort, { once: true })
    owner.waiting.add(waiter)
    waiting++
    return promise
  }

  return {
    most,
    take(account, signal) {
      if (signal.aborted) throw new UpstreamFailure('aborted')
      const owner = owners.get(account) ?? { taken: 0, waiting: new Set() }
      const isFirst = owner.waiting.size === 0
      const mayGo = isFirst && mayTake(owner.taken, most - taken)
      if (!mayGo && !mayTake(owner.waiting.size, mostWaiting - waiting)) {
        throw new UpstreamFailure(taken < most ? 'share' : 'busy')
      }
      owners.set(account, owner)
      return mayGo ? occupy(account, owner) : wait(account, owner, signal)
    },
    get taken() {
      return taken
    },
    get waiting() {
      return waiting
    },
  }
}

/** Of those who may have a place, who has the fewest; of them, who waits longest. */
function nextOf(owners: Iterable<Owner>, free: number): Waiter | undefined {
  let least = Number.POSITIVE_INFINITY
  let next: Waiter | undefined
  for (const { taken, waiting } of owners) {
    const [first] = waiting
    if (!first || !mayTake(taken, free) || taken > least) continue
    if (next && taken === least && first.since > next.since) continue
    least = taken
    next = first
  }
  return next
}
