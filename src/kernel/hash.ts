/** SHA-256 of UTF-8 text or bytes, as bytes. */
export function sha256(data: string | Uint8Array): Uint8Array {
  const out = new Uint8Array(32)
  Bun.SHA256.hash(data, out)
  return out
}

/** SHA-256 of UTF-8 text or bytes, as lower-case hex. */
export function sha256Hex(data: string | Uint8Array): string {
  return new Bun.CryptoHasher('sha256').update(data).digest('hex')
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
