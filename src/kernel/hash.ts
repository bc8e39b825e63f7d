/** SHA-256, HMAC and CRC-32. */

/** SHA-256 of UTF-8 text or bytes, as bytes. */
export function sha256(data: string | Uint8Array): Uint8Array {
  const out = new Uint8Array(32)
  sha256Into(data, out)
  return out
}

/** SHA-256 of UTF-8 text or bytes, written to `out`, which has 32 bytes. */
export function sha256Into(data: string | Uint8Array, out: Uint8Array): void {
  Bun.SHA256.hash(data, out)
}

/** SHA-256 of UTF-8 text or bytes, as lower-case hex. */
export function sha256Hex(data: string | Uint8Array): string {
  return Bun.SHA256.hash(data, 'hex')
}

/** CRC-32 (IEEE 802.3) of UTF-8 text, as an unsigned 32-bit integer. */
export function crc32(text: string): number {
  return Bun.hash.crc32(text)
}

/** HMAC-SHA-256 of UTF-8 text or bytes, as bytes. */
export function hmacSha256(key: Uint8Array, data: string | Uint8Array): Uint8Array {
  const out = new Uint8Array(32)
  out.set(new Bun.CryptoHasher('sha256', key).update(data).digest())
  return out
}

/**
 * HMAC-SHA-256 of one text under keys of 32 bytes, into `out` (32 bytes): for hot paths, nothing is
 * allocated a call.
 */
export function makeHmacSha256(text: string): (key: Uint8Array, out: Uint8Array) => void {
  const inner = new Uint8Array([
    ...new Uint8Array(64).fill(0x36),
    ...new TextEncoder().encode(text),
  ])
  const outer = new Uint8Array(96).fill(0x5c)
  const hashed = outer.subarray(64)
  return (key, out) => {
    if (key.length !== 32) throw new TypeError('a key has 32 bytes')
    for (let i = 0; i < 32; i++) {
      const byte = key[i] ?? 0
      inner[i] = byte ^ 0x36
      outer[i] = byte ^ 0x5c
    }
    sha256Into(inner, hashed)
    sha256Into(outer, out)
  }
}
