/** Parses server-sent events, also where a server writes them loosely. */
import { parseObject } from '../../kernel/json-object.ts'
import { UpstreamFailure } from './upstream.ts'

/**
 * The most one event, or one line, may hold: UTF-16 units, each at most three bytes of UTF-8. The
 * last event of some protocols repeats the whole answer, and some servers write a call in one.
 */
export const maxEventLength = 8 * 1024 * 1024

/** Takes the events of a stream in their order. */
export type EventTaker = {
  /** `name` is what the event is called, where its server says so. */
  takeEvent(data: string, name?: string): void
  /** May take events from their text, at the start of one; returns where those taken end. */
  takeText?(text: string, from: number): number
}

/**
 * The event stream parser of the HTML standard (§9.2.6) for `data` and `event`: ids and retry times
 * mean nothing to us. Beside the standard it takes lines of JSON without a field, whole JSON texts,
 * `data` lines without a blank line between two events, and `error:` as a field.
 * Any split of the bytes gives the same events.
 */
export class SseParser {
  /** Drops a leading BOM and keeps the head of a split character. */
  private readonly decoder = new TextDecoder()
  private carry = ''
  private data: string | undefined
  private name: string | undefined
  private afterCr = false
  /** Whether the data of this event is known to need all of its lines. */
  private isLined = false
  /** Whether an event came. */
  private hasBegun = false
  /** The body so far, where it is one JSON text of several lines. */
  private whole: string | undefined

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
    const { whole } = this
    this.whole = undefined
    if (whole !== undefined) this.taker.takeEvent(whole.trim())
  }

  private scan(text: string): void {
    const { taker } = this
    let from = 0
    for (;;) {
      if (this.whole !== undefined) {
        this.addWhole(text.slice(from))
        return
      }
      if (taker.takeText && this.carry === '' && this.data === undefined) {
        from = taker.takeText(text, from)
      }
      const to = text.indexOf('\n', from)
      if (to === -1) break
      if (this.carry === '' && to === from) this.dispatch()
      else if (this.carry === '' && !isRead(text.charCodeAt(from))) {
        // A comment, or another field: not even copied.
        this.check(to - from)
      } else if (this.carry === '' && text.startsWith('event: ', from)) {
        this.check(to - from)
        this.name = text.slice(from + 7, to)
      } else {
        const line = this.carry + text.slice(from, to)
        this.carry = ''
        this.takeLine(line)
      }
      from = to + 1
    }
    // Never searched again: a line that comes byte by byte costs its length, not its square.
    if (from < text.length) this.carry += text.slice(from)
    this.check(this.carry.length)
  }

  private takeLine(line: string): void {
    this.check(line.length)
    const code = line.charCodeAt(0)
    if (code === letterD) {
      const value = fieldIn(line, 'data')
      if (value !== undefined) this.addData(value)
    } else if (code === letterE) this.takeName(line)
    else if (isBare(line)) this.takeBare(line)
  }

  private takeName(line: string): void {
    const name = fieldIn(line, 'event')
    if (name !== undefined) this.name = name
    const error = name === undefined ? fieldIn(line, 'error') : undefined
    if (error === undefined) return
    this.name = 'error'
    this.addData(error)
  }

  private addData(value: string): void {
    const { data } = this
    if (data === undefined) {
      this.data = value
      return
    }
    // Some servers end an event with its line: JSON that is whole does not go on.
    if (isWholeValue(value) && !this.isLined) {
      this.isLined = data !== 'null' && !(data.endsWith('}') && parseObject(data))
      if (!this.isLined) {
        this.dispatch()
        this.data = value
        return
      }
    }
    this.data = `${data}\n${value}`
    this.check(this.data.length)
  }

  /** Takes a line of JSON that has no field; the first line of a text that goes on. */
  private takeBare(line: string): void {
    this.dispatch()
    const text = line.trim()
    if (this.hasBegun || /[}\]]$/.test(text)) {
      this.hasBegun = true
      this.taker.takeEvent(text)
    } else this.whole = `${line}\n`
  }

  private addWhole(text: string): void {
    this.whole += text
    this.check(this.whole?.length ?? 0)
  }

  private dispatch(): void {
    const { data, name } = this
    this.data = undefined
    this.name = undefined
    this.isLined = false
    if (data === undefined) return
    this.hasBegun = true
    this.taker.takeEvent(data, name)
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

const [letterD, letterE] = [0x64, 0x65]

/** Whether a line with this first letter may be read: `data`, `event`, `error`, or JSON. */
const isRead = (code: number): boolean =>
  code === letterD || code === letterE || code === 0x7b || code === 0x5b || code === 0x20

/** Whether a line begins like an object, or ends a stream. */
const isBare = (line: string): boolean => /^ *(\{|\[DONE\])/.test(line)

/** Whether data may be an event of its own. */
const isWholeValue = (value: string): boolean => isBare(value) || value.trim() === 'null'

/** The value of a field; undefined for comments and other fields. */
function fieldIn(line: string, field: string): string | undefined {
  if (!line.startsWith(field)) return undefined
  const { length } = field
  if (line.length === length) return ''
  if (line.charCodeAt(length) !== 58) return undefined
  return line.slice(line.charCodeAt(length + 1) === 32 ? length + 2 : length + 1)
}
