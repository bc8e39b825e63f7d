/** One HTTP exchange over a socket: sends a request, reads its answer, keeps its deadlines. */
import { systemClock } from '../../../kernel/clock.ts'
import { type Deadline, deadlineIn } from '../../../kernel/deadline.ts'
import type { StopSignal } from '../../../kernel/stop.ts'
import type { HttpLimits, WireAnswer } from '../http.ts'
import { reachTroubleOf } from '../reach-trouble.ts'
import { type ChunkTaker, type FailureReason, type SentMark, UpstreamFailure } from '../upstream.ts'
import { BodyPipe } from './body-pipe.ts'
import type { Line, Lines, LineUser } from './lines.ts'
import { type Body, openBody, takeBody } from './message-body.ts'
import { type Head, maxHeadBytes, readHead } from './message-head.ts'
import { unpack } from './unpack.ts'

const headEnd = '\r\n\r\n'
const mostLookedAt = maxHeadBytes + headEnd.length

/** How long an answer that said all may take to end its body, in ms. */
const endWithinMs = 1000

/** One request and its answer. Made of few parts, because there are thousands at once. */
export class Exchange implements WireAnswer, LineUser {
  status = 0
  retryAfterMs: number | undefined
  private isKept = false
  private keptMs: number | undefined
  /** The request that is sent; kept until its answer begins. */
  private request: string | undefined
  private opened: PromiseWithResolvers<WireAnswer> | undefined
  private line: Line | undefined
  private headBytes: Buffer | undefined
  private body: Body | undefined
  private readonly inlet = new BodyPipe(this)
  private packed: (() => Promise<Uint8Array | undefined>) | undefined
  private unpackedBytes = 0
  /** All that was wanted came. */
  private isEnding = false
  private readonly startedAt = systemClock.monotonic()
  /** The first look at its deadlines; most are over before. */
  private firstLook: Deadline | undefined
  private timer: Timer | undefined

  constructor(
    private readonly lines: Lines,
    /** Only its own requests share a connection with this one. */
    readonly account: string,
    private readonly signal: StopSignal,
    private readonly limits: HttpLimits,
    private readonly mark?: SentMark | undefined,
  ) {}

  begin(request: string): Promise<WireAnswer> {
    this.request = request
    const opened = Promise.withResolvers<WireAnswer>()
    this.opened = opened
    this.signal.addEventListener('abort', this)
    this.firstLook = deadlineIn(this.firstLookMs, this)
    this.lines.take(this)
    return opened.promise
  }

  /** The caller's signal. */
  handleEvent(): void {
    this.fail('aborted')
  }

  /** Kept while it connects, because a TLS handshake may never end. */
  connect(line: Line): void {
    if (this.request) this.line = line
    // It ended while it waited for an idle connection.
    else this.lines.cut(line)
  }

  send(line: Line): void {
    const { request } = this
    if (request) {
      this.line = line
      this.lines.send(line, request)
      if (this.mark && line.isWritten) this.mark.isSent = true
      // It ended while the idle connection was looked at.
    } else this.lines.cut(line)
  }

  take(bytes: Buffer): void {
    const all = this.headBytes ? Buffer.concat([this.headBytes, bytes]) : bytes
    let at = 0
    while (!this.body && at !== -1) at = this.takeHead(all, at)
    const { body } = this
    if (!body || at === -1) return
    const piece = takeBody(body, all, at)
    // The answer had said all.
    if (piece && this.isEnding) this.stop()
    else if (piece) this.inlet.give(piece)
    if (body.state === 'over') this.finish()
    else if (body.state === 'broken') this.fail('cut')
  }

  /** Takes what comes before a body, which may be told to wait for it; where it ends, or -1. */
  private takeHead(bytes: Buffer, from: number): number {
    const text = bytes.toString('latin1', from, Math.min(from + mostLookedAt, bytes.length))
    const end = text.indexOf(headEnd)
    const isPart = end === -1 && text.length < mostLookedAt
    this.headBytes = isPart ? bytes.subarray(from) : undefined
    if (isPart) return -1
    const head = end === -1 ? undefined : readHead(text.slice(0, end))
    if (!head || head.status === 101) this.fail('unreachable')
    // A redirect is a failure, so credentials reach the host of the URL and no other.
    else if (head.status >= 300 && head.status <= 399) this.fail('error', head.status)
    else if (head.status >= 200) this.answer(head)
    return this.inlet.failure ? -1 : from + end + headEnd.length
  }

  private answer(head: Head): void {
    this.status = head.status
    this.retryAfterMs = head.retryAfterMs
    this.isKept = head.isKept
    this.keptMs = head.keptMs
    this.body = openBody(head)
    this.request = undefined
    if (this.mark) this.mark.isSent = true
    const { encoding } = head
    if (encoding) this.packed = unpack(encoding, () => this.inlet.read(Number.POSITIVE_INFINITY))
    // A timer is the most expensive part of a request, so one is set only if needed earlier.
    if (this.limits.idleMs < this.firstLookMs) this.handleDeadline()
    this.opened?.resolve(this)
    this.opened = undefined
  }

  /** Its connection is over. */
  lose(isClean: boolean, error?: unknown): void {
    const { line } = this
    this.line = undefined
    // Sent again only while none of it was written: a server that heard it may have worked on it.
    const isUnheard = line?.idleSince !== undefined && !line.isWritten
    if (isUnheard) this.lines.takeNew(this)
    else if (!this.body) this.fail('unreachable', undefined, error)
    else if (isClean && this.body.left === Number.POSITIVE_INFINITY) this.finish()
    else this.fail('cut')
  }

  pause(): void {
    this.line?.socket?.pause()
  }

  resume(): void {
    this.line?.socket?.resume()
  }

  /** The body is whole: its connection is for the next request. */
  private finish(): void {
    const { line, body, inlet } = this
    if (inlet.failure || inlet.isWhole) return
    this.letGo()
    // Also if it is not being read now.
    line?.socket?.resume()
    if (line && this.isKept && !body?.hasMore) this.lines.keep(line, this.keptMs)
    else if (line) this.lines.cut(line)
    inlet.end()
  }

  fail(reason: FailureReason, status?: number, error?: unknown): void {
    const { line, opened, inlet } = this
    if (inlet.failure) return
    if (this.mark && line?.isWritten) this.mark.isSent = true
    const trouble = error ? reachTroubleOf(error) : undefined
    const failure = new UpstreamFailure(reason, { status, trouble })
    this.letGo()
    this.opened = undefined
    if (line) this.lines.cut(line)
    opened?.reject(failure)
    inlet.fail(failure)
  }

  /** Drops the timers, the listener and the connection. */
  private letGo(): void {
    this.firstLook?.clear()
    this.firstLook = undefined
    clearTimeout(this.timer)
    this.timer = undefined
    this.signal.removeEventListener('abort', this)
    this.line = undefined
    this.request = undefined
    this.headBytes = undefined
  }

  private get firstLookMs(): number {
    return Math.min(this.limits.firstByteMs, this.limits.totalMs)
  }

  /** The one timer of an exchange: set for the first of its deadlines, it looks at all of them. */
  handleDeadline(): void {
    this.firstLook?.clear()
    clearTimeout(this.timer)
    const { firstByteMs, idleMs, totalMs } = this.limits
    const now = systemClock.monotonic()
    const spent = now - this.startedAt
    // While our reader is slow, the other side is not silent.
    const silent = now - (this.inlet.waitsSince ?? now)
    const rest = this.body ? idleMs - silent : firstByteMs - spent
    if (this.isEnding) this.timer = setTimeout(stopLate, endWithinMs, this)
    else if (totalMs <= spent) this.fail('too_long')
    else if (rest <= 0) this.fail('timeout')
    else this.timer = setTimeout(lookAt, Math.ceil(Math.min(rest, totalMs - spent)), this)
  }

  left(): Uint8Array | undefined {
    return this.packed ? undefined : this.inlet.left
  }

  read(): Promise<Uint8Array | undefined> {
    return this.readUpTo(this.limits.streamBytes)
  }

  private async readUpTo(limit: number): Promise<Uint8Array | undefined> {
    this.refuseLate()
    if (!this.packed) return this.inlet.read(limit)
    // The decompressor was not told of the failure.
    const { failure } = this.inlet
    if (failure && failure.reason !== 'cut') throw failure
    const bytes = await this.packed()
    this.unpackedBytes += bytes?.length ?? 0
    if (this.unpackedBytes <= limit) return bytes
    this.fail('too_large')
    throw new UpstreamFailure('too_large')
  }

  async flow(take: ChunkTaker<Uint8Array>): Promise<void> {
    this.refuseLate()
    if (!this.packed) return this.inlet.flow(take, this.limits.streamBytes)
    for (;;) {
      const bytes = await this.read()
      if (!bytes || !(await take(bytes))) return
    }
  }

  /** Bytes that already arrived must not go out after the caller gave up. */
  private refuseLate(): void {
    const isRead = this.inlet.isWhole && !this.inlet.hasUnread
    if (this.signal.aborted && !isRead) this.fail('aborted')
  }

  text(): Promise<string> {
    // Nearly all answers came whole by now.
    const isPlain = !this.packed && !this.signal.aborted
    const whole = isPlain ? this.inlet.takeWhole(this.limits.answerBytes) : undefined
    return whole ? Promise.resolve(utf8.decode(whole)) : this.readText()
  }

  private async readText(): Promise<string> {
    const pieces: Uint8Array[] = []
    try {
      this.refuseLate()
      for (;;) {
        const bytes = await this.readUpTo(this.limits.answerBytes)
        if (bytes === undefined) return utf8.decode(Buffer.concat(pieces))
        pieces.push(bytes)
      }
    } catch (error) {
      this.stop()
      // None of it was used.
      const isCut = error instanceof UpstreamFailure && error.reason === 'cut'
      throw isCut ? new UpstreamFailure('error') : error
    }
  }

  end(): void {
    if (this.inlet.isWhole || this.inlet.failure) return
    this.isEnding = true
    if (this.inlet.hasUnread) this.stop()
    else this.handleDeadline()
  }

  stop(): void {
    this.fail('aborted')
  }
}

const utf8 = new TextDecoder()
const lookAt = (exchange: Exchange): void => exchange.handleDeadline()
const stopLate = (exchange: Exchange): void => exchange.stop()
