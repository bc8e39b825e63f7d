/** SHA-256 of UTF-8 text or bytes, as bytes. */
export function sha256(data: string | Uint8Array): Uint8Array {
  return new Uint8Array(new Bun.CryptoHasher('sha256').update(data).digest().buffer)
}

/** SHA-256 of UTF-8 text or bytes, as lower-case hex. */
export function sha256Hex(data: string | Uint8Array): string {
  return new Bun.CryptoHasher('sha256').update(data).digest('hex')
}

/** CRC-32 (IEEE 802.3) of UTF-8 text, as an unsigned 32-bit integer. */
export function crc32(text: string): number {
  return Bun.hash.crc32(text)
}
