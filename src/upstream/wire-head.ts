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

/**
 * Reads the head of an HTTP/1.1 answer (RFC 9112), without its empty line. Undefined for one that
 * another reader could take otherwise: nobody may disagree on where its body ends.
 */
export function readHead(text: string): Head | undefined {
  const lines = text.split('\r\n')
  const [, minor, code] = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: |$)/.exec(lines[0] ?? '') ?? []
  if (code === undefined) return undefined
  const fields = fieldsOf(lines)
  if (!fields) return undefined
  const status = Number(code)
  const coding = fields.get('transfer-encoding')?.toLowerCase()
  const declared = fields.get('content-length')
  if (coding !== undefined && (coding !== 'chunked' || minor === '0')) return undefined
  if (declared !== undefined && !/^\d{1,15}$/.test(declared)) return undefined
  const isChunked = coding !== undefined
  const isEmpty = status < 200 || status === 204 || status === 304
  const length = isEmpty ? 0 : isChunked || declared === undefined ? undefined : Number(declared)
  const encoding = fields.get('content-encoding')?.toLowerCase()
  const isClear = isChunked ? declared === undefined : length !== undefined
  return {
    status,
    length,
    isChunked: isChunked && !isEmpty,
    // What has no body by its status may still send one, which no other answer must begin with.
    isKept: !isEmpty && isClear && mayStay(minor === '1', fields.get('connection')?.toLowerCase()),
    encoding: encoding === 'identity' ? undefined : encoding,
  }
}

const known = ['content-length', 'transfer-encoding', 'content-encoding', 'connection']

/** The fields that matter here; undefined where one cannot be read, or contradicts itself. */
function fieldsOf(lines: readonly string[]): Map<string, string> | undefined {
  const fields = new Map<string, string>()
  for (let at = 1; at < lines.length; at++) {
    const line = lines[at] ?? ''
    const colon = colonIn(line)
    if (colon < 1 || breaks(line, colon)) return undefined
    const name = line.slice(0, colon).toLowerCase()
    if (!known.includes(name)) continue
    const value = line.slice(colon + 1).trim()
    const before = fields.get(name)
    if (before !== undefined && name === 'connection') fields.set(name, `${before}, ${value}`)
    else if (before !== undefined && before !== value) return undefined
    else fields.set(name, value)
  }
  return fields
}

/** Where the colon after a name is; -1 where something stands before it that no name holds. */
function colonIn(line: string): number {
  for (let at = 0; at < line.length; at++) {
    const code = line.charCodeAt(at)
    if (code === 0x3a) return at
    if (code < 0x21 || code > 0x7e) return -1
  }
  return -1
}

/** Whether a line holds, from there on, what another reader could take for its end. */
function breaks(line: string, from: number): boolean {
  for (let at = from; at < line.length; at++) {
    const code = line.charCodeAt(at)
    if (code === 0x0a || code === 0x0d || code === 0) return true
  }
  return false
}

function mayStay(isNewer: boolean, connection: string | undefined): boolean {
  if (connection === undefined) return isNewer
  const words = connection.split(',').map((word) => word.trim())
  return !words.includes('close') && (isNewer || words.includes('keep-alive'))
}
