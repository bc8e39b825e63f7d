/** Parses server-sent events. */
import { UpstreamFailure } from './upstream.ts'

/** The most one event, or one line, may hold: UTF-16 units, each at most three bytes of UTF-8. */
export const maxEventLength = 256 * 1024

/** Turns the bytes of a `text/event-stream` into the data of its events, read by read. */
export type SseParser = {
  /** @throws UpstreamFailure 'too_large' */
  push(bytes: Uint8Array): string[]
  /** What is left when the body closed: a last event without its blank line still counts. */
  end(): string[]
}

/**
 * The event stream parser of the HTML standard (§9.2.6), for `data` alone: names, ids and
 * retry times mean nothing to us. Any split of the bytes gives the same events.
 */
export function sseParser(limit: number = maxEventLength): SseParser {
  // The decoder drops a leading BOM and keeps the head of a split character.
  const decoder = new TextDecoder()
  let carry = ''
  let data: string | undefined
  let afterCr = false

  function scan(text: string): string[] {
    const events: string[] = []
    let from = 0
    for (;;) {
      const to = text.indexOf('\n', from)
      if (to === -1) break
      if (carry === '' && to === from) {
        if (data !== undefined) events.push(data)
        data = undefined
      } else if (carry === '' && text.charCodeAt(from) !== letterD) {
        // A comment, or another field: not even copied.
        check(to - from)
      } else {
        take(carry + text.slice(from, to))
        carry = ''
      }
      from = to + 1
    }
    // Never searched again: a line that comes byte by byte costs its length, not its square.
    carry += text.slice(from)
    check(carry.length)
    return events
  }

  function take(line: string): void {
    check(line.length)
    const value = dataOf(line)
    if (value === undefined) return
    data = data === undefined ? value : `${data}\n${value}`
    check(data.length)
  }

  function check(length: number): void {
    if (length > limit) throw new UpstreamFailure('too_large')
  }

  /** Makes every line end a LF, also when CR and LF come in different reads. */
  function unify(text: string): string {
    if (text === '') return text
    const rest = afterCr && text.startsWith('\n') ? text.slice(1) : text
    afterCr = false
    if (!rest.includes('\r')) return rest
    afterCr = rest.endsWith('\r')
    return rest.replaceAll(/\r\n?/g, '\n')
  }

  return {
    push: (bytes) => scan(unify(decoder.decode(bytes, { stream: true }))),
    end: () => scan(`${unify(decoder.decode())}\n\n`),
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
