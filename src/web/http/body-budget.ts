/** Shares the memory for request bodies among accounts. */
import { mayTake } from '../../kernel/fair-share.ts'
import { Refusal } from '../../kernel/refusal.ts'
import { retryHeaders } from '../../kernel/retry-headers.ts'

/** Bodies up to so many bytes take no room: there are as many as runs, and each is short. */
export const smallBody = 256 * 1024

/** Callers without a key or a session have this part of all room together. */
const strangersPart = 8

/** A request that is refused for lack of room may be sent again after this, in ms. */
const retryAfterMs = 2000

/**
 * The room for the bodies that this process reads or still needs, in bytes of bodies. An account
 * has a share that shrinks as others need some. A body that is alone always has room, or one above
 * a budget that is too small could never be sent.
 */
export class BodyBudget {
  private taken = 0
  private takenByStrangers = 0
  private readonly byHolder = new Map<string, number>()

  constructor(private readonly settings: { readonly bodiesBytes: number }) {}

  /** Takes room for `bytes` more of a holder. @throws Refusal 'rate_limited' */
  take({ holder, isStranger }: Holder, bytes: number): void {
    const own = this.byHolder.get(holder) ?? 0
    const { bodiesBytes } = this.settings
    const free = bodiesBytes - this.taken
    const isAlone = this.taken === own && own === 0
    if (!isAlone && !mayTake(own, free, bytes)) throw tooMuch()
    if (isStranger) {
      const left = bodiesBytes / strangersPart - this.takenByStrangers
      const isAloneThere = this.takenByStrangers === own && own === 0
      if (!isAloneThere && !mayTake(own, left, bytes)) throw tooMuch()
      this.takenByStrangers += bytes
    }
    this.taken += bytes
    this.byHolder.set(holder, own + bytes)
  }

  release({ holder, isStranger }: Holder, bytes: number): void {
    this.taken -= bytes
    if (isStranger) this.takenByStrangers -= bytes
    const left = (this.byHolder.get(holder) ?? 0) - bytes
    if (left > 0) this.byHolder.set(holder, left)
    else this.byHolder.delete(holder)
  }
}

/** The holder of room: an account, or the network of a caller without one. */
export type Holder = { holder: string; isStranger: boolean }

/** The room of one body. */
export class BodyRoom {
  private bytes = 0
  /** Whether a run holds it, and releases it with its first byte. */
  isHandedOn = false

  constructor(
    private readonly budget: BodyBudget,
    private readonly holder: Holder,
  ) {}

  /** @throws Refusal 'rate_limited' */
  take(bytes: number): void {
    this.budget.take(this.holder, bytes)
    this.bytes += bytes
  }

  /** Gives `bytes` back, or all that is left; any number of times. */
  release(bytes = this.bytes): void {
    this.bytes -= bytes
    if (bytes > 0) this.budget.release(this.holder, bytes)
  }
}

const tooMuch = (): Refusal =>
  new Refusal('rate_limited', {
    message:
      'The bodies of your requests take as much memory as they may here at once. Wait for one ' +
      'to be answered, or send a smaller one.',
    headers: retryHeaders(retryAfterMs),
  })
