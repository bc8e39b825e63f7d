/** Reads and bounds request bodies. */
import type { Json } from '../../kernel/canonical.ts'
import { jsonSizeOf } from '../../kernel/json-size.ts'
import { refuse } from '../../kernel/refusal.ts'
import { roomFor } from './expected-body.ts'
import { findJsonError } from './json-position.ts'
import type { BodyRoom } from './memory-budget.ts'
import { type Packing, packingOf } from './packing.ts'
import { inTime } from './slow-body.ts'

/** A JSON body: the value, and the text it was read from. */
export type JsonBody = { value: Json; text: string }

/** Deeper values are refused before anything walks them; a schema of 64 levels has room. */
const maxJsonDepth = 80
/** Objects, lists and members of one body, together. */
const maxJsonParts = 100_000
/** Values in them: a text or a number takes two bytes at least, so a body has room for millions. */
const maxJsonValues = 500_000

const decoder = new TextDecoder('utf-8', { fatal: true })

/** A JSON body whose memory is still counted: `room` is released once it is not needed. */
export type HeldJson = JsonBody & { room: BodyRoom | undefined }

type Limits = { limitBytes: number }

/**
 * Reads a request's JSON body, packed or not. Call it after the guards: the body is read only here.
 * @throws Refusal 'payload_too_large' above `limitBytes`, packed or unpacked, 'rate_limited' where
 * other bodies leave no memory for it, 'unsupported_media_type' unless it is application/json,
 * 'invalid_request' unless it is JSON with a canonical form.
 */
export async function readJson(request: Request, limits: Limits): Promise<JsonBody> {
  const { room, ...body } = await readHeldJson(request, limits)
  room?.release()
  return body
}

/** As {@link readJson}, for a body that is needed longer than a moment. */
export async function readHeldJson(request: Request, { limitBytes }: Limits): Promise<HeldJson> {
  assertLength(request, limitBytes)
  assertMediaType(request, 'application/json')
  const packing = packingOf(request)
  const room = roomFor(request)
  try {
    const sent = await readBytes(request, limitBytes, room)
    const bytes = packing ? await unpacked(sent, packing, { limitBytes, room }) : sent
    const text = decode(bytes)
    return { value: parseSound(text), text, room }
  } catch (error) {
    room?.release()
    throw error
  }
}

/** Unpacks by a module that is loaded when it is first needed. */
async function unpacked(
  sent: Uint8Array,
  packing: Packing,
  { limitBytes, room }: Limits & { room: BodyRoom | undefined },
): Promise<Uint8Array> {
  const { unpack } = await import('./compressed-body.ts')
  return unpack(sent, packing, {
    mostBytes: limitBytes,
    room,
    refuseTooLarge: () => refuseTooLarge(limitBytes),
  })
}

/**
 * JSON that stands as text in a field of a form.
 * @throws Refusal 'invalid_request' unless it is JSON with a canonical form
 */
export function parseSound(text: string): Json {
  assertModest(text)
  const value = parseJson(text)
  assertSound(value, text.includes('\\ud') || text.includes('\\uD'))
  return value
}

/**
 * Reads a body as UTF-8 text, of that media type only.
 * @throws Refusal as {@link readJson}
 */
export async function readText(
  request: Request,
  { limitBytes, contentType }: Limits & { contentType: string },
): Promise<string> {
  assertReadable(request, limitBytes)
  assertMediaType(request, contentType)
  return decode(await readBytes(request, limitBytes, undefined))
}

function assertMediaType({ headers }: Request, contentType: string): void {
  if (isMediaType(headers.get('content-type'), contentType)) return
  refuse('unsupported_media_type', `Send a body of ${contentType} and name it in Content-Type.`)
}

/** Refuses by the headers alone; a declared length needs no reading. */
function assertLength({ headers }: Request, limitBytes: number): void {
  if (Number(headers.get('content-length')) > limitBytes) refuseTooLarge(limitBytes)
}

/** As {@link assertLength}, of a body that is read as it comes. */
export function assertReadable(request: Request, limitBytes: number): void {
  assertLength(request, limitBytes)
  const encoding = request.headers.get('content-encoding')
  if (encoding !== null && encoding.toLowerCase() !== 'identity') {
    refuse('unsupported_media_type', 'Send this body as it is, without a Content-Encoding.')
  }
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

const readBytes = (
  request: Request,
  limitBytes: number,
  room: BodyRoom | undefined,
): Promise<Uint8Array<ArrayBuffer>> => inTime(request, readWhole(request, limitBytes, room))

/** A body in chunks is counted; room for another is taken before any of it is read. */
function readWhole(
  request: Request,
  limitBytes: number,
  room: BodyRoom | undefined,
): Promise<Uint8Array<ArrayBuffer>> {
  const length = request.headers.get('content-length')
  if (length === null && request.body) return readCounted(request.body, limitBytes, room)
  room?.take(Number(length))
  return request.bytes().catch(refuseCut)
}

const refuseCut = (): never => refuse('invalid_request', 'The body was cut off.')

async function readCounted(
  body: ReadableStream<Uint8Array>,
  limitBytes: number,
  room: BodyRoom | undefined,
): Promise<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader()
  const parts: Uint8Array[] = []
  let length = 0
  try {
    while (true) {
      const part = await reader.read().catch(refuseCut)
      if (part.done) return Buffer.concat(parts, length)
      length += part.value.byteLength
      if (length > limitBytes) refuseTooLarge(limitBytes)
      room?.take(part.value.byteLength)
      parts.push(part.value)
    }
  } catch (error) {
    // Not awaited: the client may take its time to stop sending.
    reader.cancel().catch(() => undefined)
    throw error
  }
}

/** Refuses a long text that would take the parser long. */
function assertModest(text: string): void {
  const { depth, parts, commas } = jsonSizeOf(text) ?? { depth: 0, parts: 0, commas: 0 }
  if (depth > maxJsonDepth) refuseDeep()
  if (commas > maxJsonValues) {
    refuse('invalid_request', `The body holds more than ${maxJsonValues} values.`)
  }
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
