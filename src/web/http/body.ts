/** Reads and bounds request bodies. */
import type { Json } from '../../kernel/canonical.ts'
import { jsonSizeOf } from '../../kernel/json-size.ts'
import { refuse } from '../../kernel/refusal.ts'
import { findJsonError } from './json-position.ts'
import { inTime } from './slow-body.ts'

/** A JSON body: the value, and the text it was read from. */
export type JsonBody = { value: Json; text: string }

/** Deeper values are refused before anything walks them; a schema of 64 levels has room. */
const maxJsonDepth = 80
/** Objects, lists and members of one body, together. */
const maxJsonParts = 100_000

const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * Reads a request's JSON body. Call it after the guards: the body is read only here.
 * @throws Refusal 'payload_too_large' above `limitBytes`, 'unsupported_media_type' unless it is
 * uncompressed application/json, 'invalid_request' unless it is JSON with a canonical form.
 */
export async function readJson(
  request: Request,
  { limitBytes }: { limitBytes: number },
): Promise<JsonBody> {
  assertReadableAs(request, limitBytes, 'application/json')
  const text = decode(await readBytes(request, limitBytes))
  return { value: parseSound(text), text }
}

/**
 * JSON that stands as text in a field of a form.
 * @throws Refusal 'invalid_request' unless it is JSON with a canonical form
 */
export function parseSound(text: string): Json {
  assertModest(text)
  const value = parseJson(text)
  assertSound(value, /\\ud/i.test(text))
  return value
}

/**
 * Reads a body as UTF-8 text, of that media type only.
 * @throws Refusal as {@link readJson}
 */
export async function readText(
  request: Request,
  { limitBytes, contentType }: { limitBytes: number; contentType: string },
): Promise<string> {
  assertReadableAs(request, limitBytes, contentType)
  return decode(await readBytes(request, limitBytes))
}

function assertReadableAs(request: Request, limitBytes: number, contentType: string): void {
  assertReadable(request, limitBytes)
  if (isMediaType(request.headers.get('content-type'), contentType)) return
  refuse('unsupported_media_type', `Send an uncompressed body as ${contentType}.`)
}

/** Refuses by the headers alone; a declared length needs no reading. */
export function assertReadable({ headers }: Request, limitBytes: number): void {
  if (Number(headers.get('content-length')) > limitBytes) refuseTooLarge(limitBytes)
  const encoding = headers.get('content-encoding')
  if (encoding !== null && encoding.toLowerCase() !== 'identity') refuse('unsupported_media_type')
}

/** @throws Refusal `invalid_request` unless it is UTF-8 */
export function decode(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch {
    refuse('invalid_request', 'The body is not valid UTF-8.')
  }
}

/** `application/json; charset=utf-8` is application/json; another charset is not what we read. */
function isMediaType(header: string | null, wanted: string): boolean {
  if (header === wanted) return true
  if (header === null) return false
  const [type = '', ...parameters] = header.toLowerCase().split(';')
  if (type.trim() !== wanted) return false
  return parameters.every((parameter) => {
    const [name = '', value = ''] = parameter.trim().split('=')
    return name !== 'charset' || /^"?utf-?8"?$/.test(value)
  })
}

const readBytes = (request: Request, limitBytes: number): Promise<Uint8Array<ArrayBuffer>> =>
  inTime(request, readWhole(request, limitBytes))

/** A body in chunks is counted. */
function readWhole(request: Request, limitBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const isCounted = !request.headers.has('content-length') && request.body !== null
  return isCounted && request.body
    ? readCounted(request.body, limitBytes)
    : request.bytes().catch(refuseCut)
}

const refuseCut = (): never => refuse('invalid_request', 'The body was cut off.')

async function readCounted(
  body: ReadableStream<Uint8Array>,
  limitBytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader()
  const parts: Uint8Array[] = []
  let length = 0
  while (true) {
    const part = await reader.read().catch(refuseCut)
    if (part.done) return Buffer.concat(parts, length)
    length += part.value.byteLength
    if (length > limitBytes) {
      // Not awaited: the client may take its time to stop sending.
      reader.cancel().catch(() => undefined)
      refuseTooLarge(limitBytes)
    }
    parts.push(part.value)
  }
}

/** Refuses a long text that would take the parser long. */
function assertModest(text: string): void {
  const { depth, parts } = jsonSizeOf(text) ?? { depth: 0, parts: 0 }
  if (depth > maxJsonDepth) refuseDeep()
  if (parts > maxJsonParts) {
    const message = `The body holds more than ${maxJsonParts} objects, lists and members.`
    refuse('invalid_request', message)
  }
}

function parseJson(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    const place = findJsonError(text)
    if (!place) refuse('invalid_request', 'The body is not valid JSON.')
    const { line, column, offset } = place
    refuse('invalid_request', {
      message: `The body is not valid JSON: see line ${line}, column ${column}.`,
      metadata: { line, column, offset },
    })
  }
}

/** Refuses what is too deep, too large a number and, where an escape can make one, half a pair. */
function assertSound(node: Json, mayHaveSurrogates: boolean, depth = 0): void {
  if (typeof node === 'string') {
    if (mayHaveSurrogates && !node.isWellFormed()) refuseSurrogate()
    return
  }
  if (node === Number.POSITIVE_INFINITY || node === Number.NEGATIVE_INFINITY) {
    refuse('invalid_request', 'The body holds a number that is too large to be read.')
  }
  if (typeof node !== 'object' || node === null) return
  if (depth === maxJsonDepth) refuseDeep()
  if (Array.isArray(node)) {
    for (const item of node) assertSound(item, mayHaveSurrogates, depth + 1)
    return
  }
  for (const name in node) {
    if (mayHaveSurrogates && !name.isWellFormed()) refuseSurrogate()
    assertSound(node[name] ?? null, mayHaveSurrogates, depth + 1)
  }
}

function refuseDeep(): never {
  refuse('invalid_request', `The body is nested deeper than ${maxJsonDepth} levels.`)
}

function refuseSurrogate(): never {
  refuse('invalid_request', 'The body holds half of a surrogate pair.')
}

export function refuseTooLarge(limitBytes: number): never {
  refuse('payload_too_large', {
    message: `The body is too large. The limit is ${limitBytes} bytes.`,
    metadata: { limit_bytes: limitBytes },
  })
}
