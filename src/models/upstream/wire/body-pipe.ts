/** Passes the bytes of a body to its reader, with back-pressure. */
import { systemClock } from '../../../kernel/clock.ts'
import { type ChunkTaker, type FailureReason, UpstreamFailure, unreadBytes } from '../upstream.ts'

/** The sender of the bytes. */
type Source = { pause(): void; resume(): void; fail(reason: FailureReason): void }

type Waiter = PromiseWithResolvers<Uint8Array | undefined>
type Flow = {
  take: ChunkTaker<Uint8Array>
  limit: number
  done: PromiseWithResolvers<void>
  /** Whether it still takes its time with a piece. */
  isBusy: boolean
}

/** Unread bytes that are buffered before the sender is paused. */
const mostUnread = unreadBytes / 3

/**
 * Between an arriving body and its reader, in one of two ways: each read asks for a piece,
 * or all flow into one function.
 */
export class BodyPipe {
  failure: UpstreamFailure | undefined
  isWhole = false
  /** The time since which the reader waits for more; undefined while it does not. */
  waitsSince: number | undefined
  /** The bytes that came and were not read. */
  private unread: Buffer | undefined
  /** The unread bytes of a body that was stopped. */
  left: Buffer | undefined
  private isPaused = false
  private bytesRead = 0
  private waiter: Waiter | undefined
  private flowing: Flow | undefined

  constructor(private readonly source: Source) {}

  get hasUnread(): boolean {
    return this.unread !== undefined
  }

  give(piece: Buffer): void {
    const { waiter, flowing } = this
    if (waiter) {
      this.waiter = undefined
      this.waitsSince = undefined
      waiter.resolve(piece)
    } else if (flowing && !flowing.isBusy) this.pour(flowing, piece)
    else this.store(piece)
  }

  private store(piece: Buffer): void {
    this.unread = this.unread ? Buffer.concat([this.unread, piece]) : piece
    if (this.unread.length < mostUnread || this.isPaused) return
    this.isPaused = true
    this.source.pause()
  }

  /** The body is whole. */
  end(): void {
    this.isWhole = true
    this.waiter?.resolve(undefined)
    this.waiter = undefined
    this.endFlow()
  }

  /** No more comes. What came before a cut is read first. */
  fail(failure: UpstreamFailure): void {
    this.failure = failure
    if (failure.reason === 'aborted') this.left = this.unread
    if (failure.reason !== 'cut') this.unread = undefined
    this.waiter?.reject(failure)
    this.waiter = undefined
    this.endFlow()
  }

  /** A body that arrived whole before it was read, if it has at most `limit` bytes. */
  takeWhole(limit: number): Uint8Array | undefined {
    const { unread } = this
    if (!this.isWhole || !unread || this.bytesRead + unread.length > limit) return undefined
    this.unread = undefined
    this.bytesRead += unread.length
    return unread
  }

  /** The next bytes, up to that many in all; undefined at the end. */
  async read(limit: number): Promise<Uint8Array | undefined> {
    const bytes = await this.next()
    this.bytesRead += bytes?.length ?? 0
    if (this.bytesRead > limit) this.source.fail('too_large')
    if (this.bytesRead > limit) throw new UpstreamFailure('too_large')
    return bytes
  }

  private next(): Promise<Uint8Array | undefined> | Uint8Array | undefined {
    const { unread } = this
    this.unread = undefined
    if (unread) return unread
    if (this.failure) throw this.failure
    if (this.isWhole) return undefined
    this.resume()
    this.waitsSince = systemClock.monotonic()
    this.waiter = Promise.withResolvers()
    return this.waiter.promise
  }

  /**
   * Hands each piece to `take` as it comes. Nothing is made that waits for the next one: the
   * collector would find it a thousand times where a thousand streams wait.
   */
  flow(take: ChunkTaker<Uint8Array>, limit: number): Promise<void> {
    const flowing: Flow = { take, limit, done: Promise.withResolvers(), isBusy: false }
    this.flowing = flowing
    this.waitsSince = systemClock.monotonic()
    this.goOn(flowing)
    return flowing.done.promise
  }

  private pour(flowing: Flow, piece: Buffer): void {
    this.bytesRead += piece.length
    try {
      if (this.bytesRead > flowing.limit) throw new UpstreamFailure('too_large')
      const more = flowing.take(piece)
      if (more === true) this.waitsSince = systemClock.monotonic()
      else if (more === false) this.leaveFlow()
      else this.pourLater(flowing, more)
    } catch (error) {
      this.leaveFlow(error)
    }
  }

  private pourLater(flowing: Flow, more: Promise<boolean>): void {
    flowing.isBusy = true
    this.waitsSince = undefined
    const taken = (mayGo: boolean) => {
      if (this.flowing !== flowing) return
      flowing.isBusy = false
      this.waitsSince = systemClock.monotonic()
      if (mayGo) this.goOn(flowing)
      else this.leaveFlow()
    }
    more.then(taken, (error) => {
      if (this.flowing === flowing) this.leaveFlow(error)
    })
  }

  /** Pours out what came meanwhile. */
  private goOn(flowing: Flow): void {
    const { unread } = this
    this.unread = undefined
    if (unread) this.pour(flowing, unread)
    if (this.flowing !== flowing || flowing.isBusy) return
    if (this.isWhole || this.failure) this.endFlow()
    else this.resume()
  }

  /** Nothing more comes; but what came before the body was whole or cut is waited for. */
  private endFlow(): void {
    const { flowing, failure } = this
    const isLasting = !failure || failure.reason === 'cut'
    if (flowing && isLasting && (flowing.isBusy || this.unread)) return
    this.leaveFlow(failure)
  }

  private leaveFlow(error?: unknown): void {
    const done = this.flowing?.done
    this.flowing = undefined
    this.waitsSince = undefined
    if (error) done?.reject(error)
    else done?.resolve()
  }

  private resume(): void {
    if (!this.isPaused) return
    this.isPaused = false
    this.source.resume()
  }
}
