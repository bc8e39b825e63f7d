/** Finds the end of an HTTP body. */
import { framingFields, readField, tchar, textChar } from './header-field.ts'
import type { Head } from './message-head.ts'

/** How far a body is. */
export type Body = {
  isChunked: boolean
  /** Bytes that are to come, of the body or of its chunk; infinite where its connection ends it. */
  left: number
  /** The line of a chunked body that comes next, where {@link left} is 0. */
  next: 'size' | 'end of chunk' | 'trailer'
  /** The part of that line that came. */
  line: string
  trailerBytes: number
  state: 'open' | 'over' | 'broken'
  /** Whether something followed its end, so that the next bytes have no meaning. */
  hasMore: boolean
}

const maxLineBytes = 1024
const maxTrailerBytes = 16 * 1024

export function openBody({ length, isChunked }: Head): Body {
  const left = isChunked ? 0 : (length ?? Number.POSITIVE_INFINITY)
  const state = left === 0 && !isChunked ? 'over' : 'open'
  return { isChunked, left, next: 'size', line: '', trailerBytes: 0, state, hasMore: false }
}

/** The bytes of a connection from `from` on that belong to the body; undefined for none. */
export function takeBody(body: Body, bytes: Buffer, from = 0): Buffer | undefined {
  let at = from
  let first: Buffer | undefined
  let more: Buffer[] | undefined
  while (at < bytes.length && body.state === 'open') {
    if (body.left === 0) {
      at = takeLine(body, bytes, at)
      continue
    }
    const to = Math.min(at + body.left, bytes.length)
    const part = at === 0 && to === bytes.length ? bytes : bytes.subarray(at, to)
    body.left -= to - at
    at = to
    if (!first) first = part
    else if (more) more.push(part)
    else more = [first, part]
    if (body.left > 0) break
    if (body.isChunked) body.next = 'end of chunk'
    else body.state = 'over'
  }
  if (at < bytes.length) body.hasMore = true
  return more ? Buffer.concat(more) : first
}

/** Reads on in a line between two chunks; returns where it stopped. */
function takeLine(body: Body, bytes: Buffer, from: number): number {
  const end = bytes.indexOf(lineFeed, from)
  const to = end === -1 ? bytes.length : end
  if (body.line.length + to - from > maxLineBytes) {
    body.state = 'broken'
    return to
  }
  const line = body.line + bytes.toString('latin1', from, to)
  body.line = end === -1 ? line : ''
  if (end !== -1 && !endLine(body, line)) body.state = 'broken'
  return to + 1
}

const lineFeed = 0x0a

const quoted = `"(?:[\\t !#-\\[\\]-~\\x80-\\xff]|\\\\[${textChar}])*"`
/**
 * The size of a chunk and its extensions (RFC 9112 §7.1) without white space: what the RFC has
 * there is for old senders, and readers disagree on it.
 */
const chunkLine = new RegExp(`^([0-9a-fA-F]{1,8})(?:;[${tchar}]+(?:=(?:[${tchar}]+|${quoted}))?)*$`)

/** Whether a line may stand in the trailer section (RFC 9110 §6.5.1). */
function isTrailer(line: string): boolean {
  const field = readField(line)
  return field !== undefined && !framingFields.includes(field.name)
}

/** Reads a line that ended with a LF; false when it is not one that may stand there. */
function endLine(body: Body, text: string): boolean {
  if (!text.endsWith('\r')) return false
  const line = text.slice(0, -1)
  if (body.next === 'end of chunk') {
    body.next = 'size'
    return line === ''
  }
  if (body.next === 'trailer') {
    body.trailerBytes += text.length
    if (line === '') body.state = 'over'
    return body.trailerBytes <= maxTrailerBytes && (line === '' || isTrailer(line))
  }
  const size = chunkLine.exec(line)?.[1]
  if (size === undefined) return false
  body.left = Number.parseInt(size, 16)
  if (body.left === 0) body.next = 'trailer'
  return true
}
