/** Unpacks compressed bodies. */
import { UpstreamFailure } from '../upstream.ts'

const formats = new Map<string, CompressionFormat>([
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['deflate', 'deflate'],
])

/** The next bytes, undefined at the end. */
type PieceSource = () => Promise<Uint8Array | undefined>

/** Servers may compress without being asked. */
export function unpack(encoding: string, read: PieceSource): PieceSource {
  const format = formats.get(encoding)
  if (!format) return () => Promise.reject(new UpstreamFailure('error'))
  const packed = new ReadableStream<BufferSource>({
    async pull(controller) {
      const bytes = await read()
      if (bytes) controller.enqueue(new Uint8Array(bytes))
      else controller.close()
    },
  })
  const reader = packed.pipeThrough(new DecompressionStream(format)).getReader()
  return async () => {
    try {
      return (await reader.read()).value
    } catch (error) {
      throw error instanceof UpstreamFailure ? error : new UpstreamFailure('cut')
    }
  }
}
