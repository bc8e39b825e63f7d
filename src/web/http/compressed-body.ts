/** Unpacks compressed request bodies. */
import type { Transform } from 'node:stream'
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from 'node:zlib'
import { Refusal, refuse } from '../../kernel/refusal.ts'
import type { BodyRoom } from './memory-budget.ts'
import type { Packing } from './packing.ts'

type Make = (options: { chunkSize: number }) => Transform

const unpackers: Record<Packing, Make> = {
  gzip: createGunzip,
  // RFC 9659: a window above 8 MiB is not for HTTP.
  zstd: (options) =>
    createZstdDecompress({ ...options, params: { [constants.ZSTD_d_windowLogMax]: 23 } }),
  deflate: createInflate,
  br: createBrotliDecompress,
}

type Bound = { mostBytes: number; room: BodyRoom | undefined; refuseTooLarge: () => never }

/**
 * The bytes of a packed body, unpacked by other threads in pieces: it ends at the first piece above
 * `mostBytes`, so a bomb takes no more memory than an honest body may.
 * @throws Refusal `payload_too_large`, `rate_limited` without room, `invalid_request`
 */
export async function unpack(
  packed: Uint8Array,
  packing: Packing,
  { mostBytes, room, refuseTooLarge }: Bound,
): Promise<Uint8Array> {
  const chunkSize = Math.min(1024 * 1024, Math.max(16 * 1024, packed.length * 4))
  const unpacker = unpackers[packing]({ chunkSize })
  const parts: Uint8Array[] = []
  let length = 0
  try {
    unpacker.end(packed)
    for await (const part of unpacker as AsyncIterable<Uint8Array>) {
      length += part.length
      if (length > mostBytes) refuseTooLarge()
      room?.take(part.length)
      parts.push(part)
    }
  } catch (error) {
    if (error instanceof Refusal) throw error
    refuse('invalid_request', `The body is not valid ${packing}, as Content-Encoding says.`)
  } finally {
    unpacker.destroy()
  }
  room?.release(packed.length)
  return Buffer.concat(parts, length)
}
