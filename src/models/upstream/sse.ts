/** Parses server-sent events. */
import { UpstreamFailure } from './upstream.ts'

/** The most one event, or one line, may hold: UTF-16 units, each at most three bytes of UTF-8. */
export const maxEventLength = 256 * 1024

/** Takes the events of a stream in their order. */
export type EventTaker = {
  takeEvent(data: string): void
  /** May take events from their text, at the start of one; returns where those taken end. */
  takeText?(text: string, from: number): number
}

/**
 * The event stream parser of the HTML standard (§9.2.6), for `data` alone: names, ids and
 * retry times mean nothing to us. Any split of the bytes gives the same events.
 */
export class SseParser {
  /** Drops a leading BOM and keeps the head of a split character. */
  private readonly decoder = new TextDecoder()
  private carry = ''
  private data: string | undefined
  private afterCr = false

  constructor(
    private readonly taker: EventTaker,
    private readonly limit: number = maxEventLength,
  ) {}

  /** @throws UpstreamFailure 'too_large' */
  push(bytes: Uint8Array): void {
    this.scan(this.unify(this.decoder.decode(bytes, { stream: true })))
  }

  /** The body closed: a last event without its blank line still counts. */
  end(): void {
    this.scan(`${this.unify(this.decoder.decode())}\n\n`)
  }

  private scan(text: string): void {
    const { taker } = this
    let from = 0
    for (;;) {
      if (taker.takeText && this.carry === '' && this.data === undefined) {
        from = taker.takeText(text, from)
      }
      const to = text.indexOf('\n', from)
      if (to === -1) break
      if (this.carry === '' && to === from) {
        const { data } = this
        this.data = undefined
        if (data !== undefined) taker.takeEvent(data)
      } else if (this.carry === '' && text.charCodeAt(from) !== letterD) {
        // A comment, or another field: not even copied.
        this.check(to - from)
      } else {
        this.takeLine(this.carry + text.slice(from, to))
        this.carry = ''
      }
      from = to + 1
    }
    // Never searched again: a line that comes byte by byte costs its length, not its square.
    if (from < text.length) this.carry += text.slice(from)
    this.check(this.carry.length)
  }

  private takeLine(line: string): void {
    this.check(line.length)
    const value = dataOf(line)
    if (value === undefined) return
    this.data = this.data === undefined ? value : `${this.data}\n${value}`
    this.check(this.data.length)
  }

  private check(length: number): void {
    if (length > this.limit) throw new UpstreamFailure('too_large')
  }

  /** Makes every line end a LF, also when CR and LF come in different reads. */
  private unify(text: string): string {
    if (text === '') return text
    const rest = this.afterCr && text.startsWith('\n') ? text.slice(1) : text
    this.afterCr = false
    if (!rest.includes('\r')) return rest
    this.afterCr = rest.endsWith('\r')
    return rest.replaceAll(/\r\n?/g, '\n')
  }
}

const letterD = 0x64

/** The value of a `data` line; undefined for comments and all other fields. */
function dataOf(line: string): string | undefined {
  if (!line.startsWith('data')) return undefined
  if (line.length === 4) return ''
  if (line.charCodeAt(4) !== 58) return undefined
  return line.slice(line.charCodeAt(5) === 32 ? 6 : 5)
}
