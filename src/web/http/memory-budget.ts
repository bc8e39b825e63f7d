/** Shares the memory that clients make this process keep among accounts. */
import { mayTake } from '../../kernel/fair-share.ts'
import { Refusal } from '../../kernel/refusal.ts'
import { retryHeaders } from '../../kernel/retry-headers.ts'

/** Bodies up to so many bytes take no room: there are as many as runs, and each is short. */
export const smallBody = 256 * 1024

/** Callers without a key or a session have this part of all room together. */
const strangersPart = 8

/** A request that is refused for lack of room may be sent again after this, in ms. */
const retryAfterMs = 2000

/** The holder of room: an account, or the network of a caller without one. */
export type Holder = { holder: string; isStranger: boolean }

/** A stream whose reader takes nothing. */
type Unread = { leave(): void }

/** The bytes of one holder. */
class Holding {
  bytes = 0
  /** The part of it that streams without a reader hold; they can be ended. */
  unreadBytes = 0
  /** The longest comes first. */
  readonly unread = new Set<StreamRoom>()

  constructor(readonly isStranger: boolean) {}
}

/** The room of all holders, or the part that strangers share. */
class Pool {
  taken = 0

  constructor(private readonly size: () => number) {}

  get free(): number {
    return this.size() - this.taken
  }

  /** Whether a holder may have `bytes` that are counted already, among the rest of what it has. */
  suits({ bytes: own }: Holding, bytes: number, freed = 0): boolean {
    if (this.taken === bytes) return true
    return mayTake(own - bytes, this.free + bytes + freed, bytes)
  }
}

/**
 * The room for what clients make this process keep, in bytes: bodies that are read or still needed,
 * and what streams keep whose readers take nothing. An account has a share that shrinks as others
 * need some. A body that is alone always has room, or one above a budget that is too small could
 * never be sent. A full budget refuses bodies and ends streams; those of the largest holder end
 * first, the longest unread one before the others.
 */
export class MemoryBudget {
  private readonly all: Pool
  private readonly strangers: Pool
  private readonly byHolder = new Map<string, Holding>()

  constructor(settings: { readonly clientBytes: number }) {
    this.all = new Pool(() => settings.clientBytes)
    this.strangers = new Pool(() => settings.clientBytes / strangersPart)
  }

  /** The bytes that are taken now. */
  get taken(): number {
    return this.all.taken
  }

  /**
   * Takes room for `bytes` more of a body. Where there is none, streams of larger holders end if
   * that makes enough.
   * @throws Refusal 'rate_limited'
   */
  take(holder: Holder, bytes: number): void {
    const own = this.count(holder, bytes)
    for (let pool = this.lacking(own, bytes); pool; pool = this.lacking(own, bytes)) {
      const larger = this.withUnread(pool, own.bytes).filter((one) => one !== own)
      const freed = larger.reduce((sum, { unreadBytes }) => sum + unreadBytes, 0)
      if (pool.suits(own, bytes, freed) && this.endLongest(larger)) continue
      this.release(holder, bytes)
      throw tooMuch()
    }
  }

  /**
   * Counts `bytes` of a stream whose reader takes nothing. They are there already, so where there
   * is no room a stream ends: of this holder, or of a larger one.
   */
  hold(holder: Holder, room: StreamRoom, bytes: number): void {
    const own = this.count(holder, bytes)
    own.unread.add(room)
    own.unreadBytes += bytes
    for (let pool = this.lacking(own, bytes); pool; pool = this.lacking(own, bytes)) {
      this.endLongest(this.withUnread(pool, own.bytes))
      if (!own.unread.has(room)) return
    }
  }

  release({ holder, isStranger }: Holder, bytes: number, room?: StreamRoom): void {
    const own = this.byHolder.get(holder)
    if (!own) return
    this.all.taken -= bytes
    if (isStranger) this.strangers.taken -= bytes
    own.bytes -= bytes
    if (room) {
      own.unread.delete(room)
      own.unreadBytes -= bytes
    }
    if (own.bytes <= 0) this.byHolder.delete(holder)
  }

  private count({ holder, isStranger }: Holder, bytes: number): Holding {
    const own = this.byHolder.get(holder) ?? new Holding(isStranger)
    this.byHolder.set(holder, own)
    own.bytes += bytes
    this.all.taken += bytes
    if (isStranger) this.strangers.taken += bytes
    return own
  }

  /** The pool that has too little for a holder; undefined if none. */
  private lacking(own: Holding, bytes: number): Pool | undefined {
    if (!this.all.suits(own, bytes)) return this.all
    const isLacking = own.isStranger && !this.strangers.suits(own, bytes)
    return isLacking ? this.strangers : undefined
  }

  /** The holders of a pool that have unread streams and `least` bytes. */
  private withUnread(pool: Pool, least: number): Holding[] {
    return [...this.byHolder.values()].filter(
      ({ bytes, unread, isStranger }) =>
        unread.size > 0 && bytes >= least && (isStranger || pool === this.all),
    )
  }

  /** Ends the stream of the largest holder that is unread for longest; false if there is none. */
  private endLongest(holders: readonly Holding[]): boolean {
    const [first, ...rest] = holders
    if (!first) return false
    const largest = rest.reduce((most, one) => (one.bytes > most.bytes ? one : most), first)
    const [longest] = largest.unread
    longest?.end()
    return longest !== undefined
  }
}

/** The room of one body. */
export class BodyRoom {
  private bytes = 0
  /** Whether a run holds it, and releases it with its first byte. */
  isHandedOn = false

  constructor(
    private readonly budget: MemoryBudget,
    private readonly holder: Holder,
  ) {}

  /** @throws Refusal 'rate_limited' */
  take(bytes: number): void {
    if (bytes === 0) return
    this.budget.take(this.holder, bytes)
    this.bytes += bytes
  }

  /** Gives `bytes` back, or all that is left; any number of times. */
  release(bytes = this.bytes): void {
    this.bytes -= bytes
    if (bytes > 0) this.budget.release(this.holder, bytes)
  }
}

/** The room of one stream while its reader takes nothing. */
export class StreamRoom {
  private bytes = 0

  constructor(
    private readonly budget: MemoryBudget,
    private readonly holder: Holder,
    private readonly stream: Unread,
  ) {}

  /** May end a stream, also this one. */
  hold(bytes: number): void {
    if (bytes === 0) return
    this.bytes += bytes
    this.budget.hold(this.holder, this, bytes)
  }

  /** Ends the stream as if its reader had hung up. */
  end(): void {
    this.release()
    this.stream.leave()
  }

  /** Gives back all; any number of times. */
  release(): void {
    const { bytes } = this
    this.bytes = 0
    if (bytes > 0) this.budget.release(this.holder, bytes, this)
  }
}

const tooMuch = (): Refusal =>
  new Refusal('rate_limited', {
    message:
      'The bodies of your requests and your unread streams take as much memory as they may here ' +
      'at once. Wait for one to be answered, or send a smaller one.',
    headers: retryHeaders(retryAfterMs),
  })
