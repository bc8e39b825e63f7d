/** Reads the head of an HTTP answer strictly. */
import { systemClock } from '../../../kernel/clock.ts'
import { longestRestMs, retryAfterIn } from '../retry-after.ts'
import { framingFields, tchar, textChar, withoutSpace } from './header-field.ts'

/** The facts in the head of an answer about the body that follows it. */
export type Head = {
  status: number
  /** Bytes of the body; undefined where it comes in chunks or ends with its connection. */
  length: number | undefined
  isChunked: boolean
  /** Whether another request may follow on the same connection. */
  isKept: boolean
  /** How long the server says that it keeps the connection, in ms. */
  keptMs?: number | undefined
  /** How the body is packed; undefined where it is not. */
  encoding: string | undefined
  /** The time until a server that refuses may be asked again, in ms. */
  retryAfterMs?: number | undefined
}

/** The most a head may hold, in bytes. */
export const maxHeadBytes = 32 * 1024

const line = `[${tchar}]+:[${textChar}]*`
/** A whole head without its empty line. One look at all of it costs less than one at each line. */
const shape = new RegExp(`^HTTP/1\\.[01] [1-5]\\d\\d [${textChar}]*(?:\\r\\n${line})*$`)

/**
 * Reads the head of an answer in HTTP/1.0 or 1.1 (RFC 9112 §4 to §6), without its empty line, where
 * each character is one byte. Strict: undefined for all that the grammar does not allow and for all
 * that readers are known to frame differently, such as a repeated Content-Length.
 */
export function readHead(text: string): Head | undefined {
  const framing = shape.test(text) ? framingOf(text) : undefined
  if (!framing) return undefined
  const isNewer = text.startsWith('HTTP/1.1')
  const status = Number(text.slice(9, 12))
  const coding = framing['transfer-encoding']?.toLowerCase()
  const { connection, 'content-length': declared } = framing
  if (coding !== undefined && (coding !== 'chunked' || !isNewer)) return undefined
  if (declared !== undefined && !/^\d{1,15}$/.test(declared)) return undefined
  const isFramed = coding !== undefined || declared !== undefined
  if (coding !== undefined && declared !== undefined) return undefined
  // An interim answer has no body, and the next head follows it.
  if (status < 200 && isFramed) return undefined
  const isEmpty = status < 200 || status === 204 || status === 304
  const isChunked = coding !== undefined && !isEmpty
  const length = isEmpty ? 0 : declared === undefined ? undefined : Number(declared)
  const encoding = framing['content-encoding']?.toLowerCase()
  const keptSeconds = keptFor.exec(text)?.[1]
  return {
    status,
    length,
    isChunked,
    ...(keptSeconds !== undefined && { keptMs: Number(keptSeconds) * 1000 }),
    // One that frames a body where the status allows none may send it, and no other answer must
    // begin with it. A 204 says by itself where it ends.
    isKept: (isEmpty ? status === 204 && !isFramed : isFramed) && mayStay(isNewer, connection),
    encoding: encoding === 'identity' ? undefined : encoding,
    ...(status >= 400 && {
      retryAfterMs: retryAfterIn((name) => fieldIn(text, name), systemClock.now(), longestRestMs),
    }),
  }
}

const keptFor = /\r\nkeep-alive:[^\r]*\btimeout=(\d{1,6})/i

/** The first field of this name. */
const fieldIn = (head: string, name: string): string | undefined =>
  new RegExp(`\\r\\n${name}:([^\\r]*)`, 'i').exec(head)?.[1]

const framingLine = new RegExp(`\\r\\n(${framingFields.join('|')}):([^\\r]*)`, 'gi')

/** The fields that matter here; undefined where one of them is repeated. */
function framingOf(head: string): { [name: string]: string } | undefined {
  const framing: { [name: string]: string } = {}
  framingLine.lastIndex = 0
  for (let found = framingLine.exec(head); found; found = framingLine.exec(head)) {
    const [, field = '', text = ''] = found
    const name = field.toLowerCase()
    // Allowed as white space around the value, but readers disagree on it (Node's is one).
    if (text.includes('\t') && framesBody(name)) return undefined
    const value = withoutSpace(text)
    const before = framing[name]
    if (before === undefined) framing[name] = value
    // The one list among them (RFC 9110 §5.3).
    else if (name === 'connection') framing[name] = `${before},${value}`
    else return undefined
  }
  return framing
}

const framesBody = (name: string): boolean =>
  name === 'content-length' || name === 'transfer-encoding'

const token = new RegExp(`^[${tchar}]*$`)

/** Whether the connection persists (RFC 9112 §9.3). It does not if `Connection` is unreadable. */
function mayStay(isNewer: boolean, connection: string | undefined): boolean {
  if (connection === undefined) return isNewer
  const words = connection.split(',').map((word) => withoutSpace(word).toLowerCase())
  if (words.includes('close') || !words.every((word) => token.test(word))) return false
  return isNewer || words.includes('keep-alive')
}
