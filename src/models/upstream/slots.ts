/** The concurrent requests of an upstream, shared fairly between accounts. */
import { mayTake } from '../../kernel/fair-share.ts'
import type { StopSignal } from '../../kernel/stop.ts'
import { UpstreamFailure } from './upstream.ts'

/** The state of a request here, in the one object that the request has. */
export type PlaceHolder = { readonly account: string; hasPlace: boolean }

/** The places and the waiters of one account; forgotten when it has none. */
type Owner = { taken: number; waiting: Set<Waiter> }

type Waiter = { since: number; grant(): void }

/**
 * Places that accounts share fairly. While there are enough, requests pass at once. When they are
 * scarce, {@link mayTake} keeps some back for others, a place that comes free goes to the account
 * that has the fewest, and of those to the longest wait. As many may wait as have a place (and
 * 128 at least), each for `maxWaitMs` at most; that queue is shared by the same rule.
 */
export class Slots {
  readonly most: number
  taken = 0
  waiting = 0
  private readonly maxWaitMs: number
  private readonly mostWaiting: number
  private readonly owners = new Map<string, Owner>()
  private turn = 0

  constructor({ most, maxWaitMs }: { most: number; maxWaitMs: number }) {
    this.most = most
    this.maxWaitMs = maxWaitMs
    this.mostWaiting = Math.max(most, 128)
  }

  /**
   * Takes a place, after waiting for one where there is none.
   * @throws UpstreamFailure `share` or `busy` when none came free in time or too many wait already,
   * `aborted` when `signal` did.
   */
  take(request: PlaceHolder, signal: StopSignal): Promise<void> | void {
    if (signal.aborted) throw new UpstreamFailure('aborted')
    const { account } = request
    const owner = this.owners.get(account) ?? { taken: 0, waiting: new Set() }
    const isFirst = owner.waiting.size === 0
    const mayGo = isFirst && mayTake(owner.taken, this.most - this.taken)
    if (!mayGo && !mayTake(owner.waiting.size, this.mostWaiting - this.waiting)) throw this.full()
    this.owners.set(account, owner)
    if (!mayGo) return this.wait(request, owner, signal)
    this.occupy(request, owner)
  }

  /** Gives the place of a request back, if it has one. */
  release(request: PlaceHolder): void {
    const owner = this.owners.get(request.account)
    if (!owner || !request.hasPlace) return
    request.hasPlace = false
    this.taken--
    owner.taken--
    this.forgetIdle(request.account, owner)
    while (this.waiting > 0 && this.taken < this.most) {
      const next = nextOf(this.owners.values(), this.most - this.taken)
      if (!next) return
      next.grant()
    }
  }

  private occupy(request: PlaceHolder, owner: Owner): void {
    this.taken++
    owner.taken++
    request.hasPlace = true
  }

  private forgetIdle(account: string, owner: Owner): void {
    if (owner.taken === 0 && owner.waiting.size === 0) this.owners.delete(account)
  }

  private full(): UpstreamFailure {
    return new UpstreamFailure(this.taken < this.most ? 'share' : 'busy')
  }

  private wait(request: PlaceHolder, owner: Owner, signal: StopSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const leave = (): void => {
      clearTimeout(tooLong)
      signal.removeEventListener('abort', onAbort)
      if (owner.waiting.delete(waiter)) this.waiting--
    }
    const giveUp = (failure: UpstreamFailure): void => {
      leave()
      this.forgetIdle(request.account, owner)
      reject(failure)
    }
    const onAbort = () => giveUp(new UpstreamFailure('aborted'))
    const waiter: Waiter = {
      since: this.turn++,
      grant: () => {
        leave()
        this.occupy(request, owner)
        resolve()
      },
    }
    const tooLong = setTimeout(() => giveUp(this.full()), this.maxWaitMs)
    signal.addEventListener('abort', onAbort, { once: true })
    owner.waiting.add(waiter)
    this.waiting++
    return promise
  }
}

/** The owner with the fewest places that may have one more; of several, the longest waiting. */
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
