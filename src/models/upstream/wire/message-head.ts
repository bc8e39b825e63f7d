/** Reads the head of an HTTP answer strictly. */
import { framingFields, readField, tchar, textChar, withoutSpace } from './header-field.ts'

/** What the head of an answer says of the body that follows it. */
export type Head = {
  status: number
  /** Bytes of the body; undefined where it comes in chunks or ends with its connection. */
  length: number | undefined
  isChunked: boolean
  /** Whether another request may follow on the same connection. */
  isKept: boolean
  /** How the body is packed; undefined where it is not. */
  encoding: string | undefined
}

/** The most a head may hold, in bytes. */
export const maxHeadBytes = 32 * 1024

const statusLine = new RegExp(`^HTTP/1\\.([01]) ([1-5]\\d\\d) [${textChar}]*$`)

/**
 * Reads the head of an answer in HTTP/1.0 or 1.1 (RFC 9112 §4 to §6), without its empty line, where
 * each character is one byte. Strict: undefined for all that the grammar does not allow and for all
 * that readers are known to frame differently, such as a repeated Content-Length.
 */
export function readHead(text: string): Head | undefined {
  const lines = text.split('\r\n')
  const [, minor, code] = statusLine.exec(lines[0] ?? '') ?? []
  if (code === undefined) return undefined
  const fields = fieldsOf(lines)
  if (!fields) return undefined
  const status = Number(code)
  const coding = fields.get('transfer-encoding')?.toLowerCase()
  const declared = fields.get('content-length')
  if (coding !== undefined && (coding !== 'chunked' || minor === '0')) return undefined
  if (declared !== undefined && !/^\d{1,15}$/.test(declared)) return undefined
  const isFramed = coding !== undefined || declared !== undefined
  if (coding !== undefined && declared !== undefined) return undefined
  // An interim answer has no body, and the next head follows it.
  if (status < 200 && isFramed) return undefined
  const isEmpty = status < 200 || status === 204 || status === 304
  const isChunked = coding !== undefined && !isEmpty
  const length = isEmpty ? 0 : declared === undefined ? undefined : Number(declared)
  const encoding = fields.get('content-encoding')?.toLowerCase()
  return {
    status,
    length,
    isChunked,
    // A server may send a body where the status allows none; no other answer must begin with it.
    isKept: !isEmpty && isFramed && mayStay(minor === '1', fields.get('connection')),
    encoding: encoding === 'identity' ? undefined : encoding,
  }
}

/** The fields that matter here; undefined where one cannot be read or a framing one is repeated. */
function fieldsOf(lines: readonly string[]): Map<string, string> | undefined {
  const fields = new Map<string, string>()
  for (let at = 1; at < lines.length; at++) {
    const line = lines[at] ?? ''
    const field = readField(line)
    if (!field) return undefined
    const { name, value } = field
    if (!framingFields.has(name)) continue
    // Allowed as white space around the value, but readers disagree on it (Node's is one).
    if (line.includes('\t') && framesBody(name)) return undefined
    const before = fields.get(name)
    if (before === undefined) fields.set(name, value)
    // The one list among them (RFC 9110 §5.3).
    else if (name === 'connection') fields.set(name, `${before},${value}`)
    else return undefined
  }
  return fields
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
