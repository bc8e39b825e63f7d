/** Reads forms that carry files. */
import { refuse } from '../../kernel/refusal.ts'
import { assertReadable, decode, refuseTooLarge } from './body.ts'
import { roomFor } from './expected-body.ts'
import type { BodyRoom } from './memory-budget.ts'
import { inTime } from './slow-body.ts'

/** A part of a form that carries files: a text, or a file with its name and bytes. */
export type FormPart = readonly [name: string, part: string | { name: string; bytes: Uint8Array }]

/**
 * Reads the parts of a form that carries files, each as UTF-8 text.
 * @throws Refusal as {@link readJson}
 */
export async function readParts(
  request: Request,
  limits: { limitBytes: number },
): Promise<[name: string, text: string][]> {
  const { parts } = await readFileParts(request, limits)
  return parts.map(([name, part]) => [name, typeof part === 'string' ? part : decode(part.bytes)])
}

/**
 * Reads the parts of a form that carries files. Up to `mostBytes` it is read to its end, because a
 * browser hears no answer before; above `limitBytes` it `isCut` to the parts that came whole until
 * then, so that what was written in front of a large file is not lost.
 * @throws Refusal as {@link readJson}; 'payload_too_large' above `mostBytes`
 */
export async function readFileParts(
  request: Request,
  { limitBytes, mostBytes = limitBytes }: { limitBytes: number; mostBytes?: number },
): Promise<{ parts: FormPart[]; isCut: boolean }> {
  assertReadable(request, mostBytes)
  const type = request.headers.get('content-type') ?? ''
  if (!/^multipart\/form-data\s*;/i.test(type)) {
    refuse('unsupported_media_type', 'Send an uncompressed body as multipart/form-data.')
  }
  const room = roomFor(request)
  try {
    const reading = readStart(request, { limitBytes, mostBytes, room })
    const { start, isCut } = await inTime(request, reading)
    return { parts: await partsOf(isCut ? wholeParts(start, type) : start, type), isCut }
  } finally {
    room?.release()
  }
}

async function partsOf(body: Buffer<ArrayBuffer>, type: string): Promise<FormPart[]> {
  const entries = await new Response(body, { headers: { 'content-type': type } })
    .formData()
    .catch(() => refuse('invalid_request', 'The form cannot be read.'))
  return Promise.all(
    [...entries].map(
      async ([name, part]): Promise<FormPart> =>
        typeof part === 'string'
          ? [name, part]
          : // Bun leaves out a name that is empty: that of a field in which no file was chosen.
            [name, { name: part.name ?? '', bytes: await part.bytes() }],
    ),
  )
}

type Bounds = { limitBytes: number; mostBytes: number; room: BodyRoom | undefined }

/** The first bytes of a body, and whether there were more, which are dropped as they come. */
async function readStart(
  request: Request,
  { limitBytes, mostBytes, room }: Bounds,
): Promise<{ start: Buffer<ArrayBuffer>; isCut: boolean }> {
  const kept: Uint8Array[] = []
  let length = 0
  const reader = request.body?.getReader()
  while (reader) {
    const part = await reader.read().catch(() => refuse('invalid_request', 'The body was cut off.'))
    if (part.done) break
    if (length < limitBytes) {
      const more = part.value.subarray(0, limitBytes - length)
      room?.take(more.byteLength)
      kept.push(more)
    }
    length += part.value.byteLength
    if (length > mostBytes) {
      reader.cancel().catch(() => undefined)
      refuseTooLarge(mostBytes)
    }
  }
  return { start: Buffer.concat(kept), isCut: length > limitBytes }
}

/** The parts of a form that are whole, with an end behind them. */
function wholeParts(start: Buffer<ArrayBuffer>, type: string): Buffer<ArrayBuffer> {
  const boundary = /;\s*boundary="?([^";]+)"?/i.exec(type)?.[1] ?? ''
  const last = start.lastIndexOf(`\r\n--${boundary}`)
  return Buffer.concat([
    start.subarray(0, Math.max(0, last)),
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ])
}
