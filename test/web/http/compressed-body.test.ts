import { describe, expect, test } from 'bun:test'
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { Refusal } from '../../../src/kernel/refusal.ts'
import { readJson } from '../../../src/web/http/body.ts'

const limitBytes = 1_000_000
const packers: [string, (bytes: Buffer) => Buffer][] = [
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['zstd', (bytes) => zstdCompressSync(bytes)],
  ['deflate', deflateSync],
  ['br', (bytes) => brotliCompressSync(bytes)],
]

function read(packed: Uint8Array, encoding: string): Promise<{ text: string }> {
  const headers = { 'content-type': 'application/json', 'content-encoding': encoding }
  const body = new Uint8Array(packed)
  return readJson(new Request('http://localhost/', { method: 'POST', body, headers }), {
    limitBytes,
  })
}

async function refusalOf(packed: Uint8Array, encoding: string): Promise<Refusal> {
  const error = await read(packed, encoding).catch((thrown: unknown) => thrown)
  if (error instanceof Refusal) return error
  throw new Error(`not refused: ${error}`)
}

describe.each(packers)('a body packed with %s', (encoding, pack) => {
  test('is read as the text that was packed', async () => {
    const text = JSON.stringify({ a: 'ü'.repeat(200_000) })
    expect((await read(pack(Buffer.from(text)), encoding)).text).toBe(text)
  })

  test('may unpack to the limit, and not to a byte more', async () => {
    const most = Buffer.from(`"${'x'.repeat(limitBytes - 2)}"`)
    expect((await read(pack(most), encoding)).text).toHaveLength(limitBytes)
    const above = Buffer.from(`"${'x'.repeat(limitBytes - 1)}"`)
    expect((await refusalOf(pack(above), encoding)).type).toBe('payload_too_large')
  })

  test('that is a bomb is refused before it takes the memory', async () => {
    const bomb = pack(Buffer.alloc(400_000_000, 32))
    Bun.gc(true)
    const before = process.memoryUsage().rss
    expect((await refusalOf(bomb, encoding)).type).toBe('payload_too_large')
    expect(process.memoryUsage().rss - before).toBeLessThan(150_000_000)
  })

  test('that is cut off or is something else is refused as 400', async () => {
    const packed = pack(Buffer.from(JSON.stringify({ a: 'word '.repeat(1000) })))
    expect((await refusalOf(packed.subarray(0, 20), encoding)).type).toBe('invalid_request')
    expect((await refusalOf(Buffer.from('{"a":1}'), encoding)).type).toBe('invalid_request')
    expect((await refusalOf(new Uint8Array(), encoding)).type).toBe('invalid_request')
  })

  test('any bytes are read or refused', () =>
    fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
        const error = await read(bytes, encoding).catch((thrown: unknown) => thrown)
        expect(error instanceof Refusal || typeof error === 'object').toBe(true)
        if (error instanceof Refusal) expect(error.type).toBe('invalid_request')
      }),
      { numRuns: 50 },
    ))
})

test('a window above the 8 MiB of RFC 9659 is refused', async () => {
  const params = {
    [constants.ZSTD_c_windowLog]: 26,
    [constants.ZSTD_c_contentSizeFlag]: 0,
    [constants.ZSTD_c_compressionLevel]: 3,
  }
  const packed = zstdCompressSync(Buffer.alloc(20_000_000, 32), { params })
  expect((await refusalOf(packed, 'zstd')).type).toBe('invalid_request')
})

test.each(['compress', 'gzip, zstd', 'gzip,gzip', 'identity, lz4'])(
  'Content-Encoding "%s" is 415 with the encodings that are taken',
  async (encoding) => {
    const refusal = await refusalOf(gzipSync('{}'), encoding)
    expect(refusal.type).toBe('unsupported_media_type')
    expect(refusal.message).toContain('gzip, zstd, deflate, br')
    expect(refusal.detail.headers).toEqual({ 'accept-encoding': 'gzip, zstd, deflate, br' })
  },
)

test.each(['gzip, identity', 'identity,GZIP', ' gzip '])('"%s" is gzip', async (encoding) => {
  expect((await read(gzipSync('{"a":1}'), encoding)).text).toBe('{"a":1}')
})
