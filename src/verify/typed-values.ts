/** Writes values of EIP-712 as the 32 bytes that are hashed. */

/**
 * A member's value: text; an integer as bigint, safe number or decimal text; bytes or hex; a list;
 * a struct, or `{ $hash }` with a hidden struct's 32 bytes in its place.
 */
export type Value =
  | string
  | number
  | bigint
  | Uint8Array
  | readonly Value[]
  | { readonly [member: string]: Value }

/** Writes so many bytes, given as such or as hex. @throws when they are others. */
export function writeBytes(value: Value, count: number, out: Uint8Array, at: number): void {
  if (value instanceof Uint8Array) {
    if (value.length !== count) throw new TypeError(`not ${count} bytes`)
    out.set(value, at)
    return
  }
  if (typeof value !== 'string' || value.length !== 2 + 2 * count || !value.startsWith('0x')) {
    throw new TypeError(`not ${count} bytes of hex`)
  }
  for (let i = 0; i < count; i++) {
    const byte = (nibble(value.charCodeAt(2 + 2 * i)) << 4) | nibble(value.charCodeAt(3 + 2 * i))
    out[at + i] = byte
  }
}

function nibble(code: number): number {
  if (code >= 48 && code <= 57) return code - 48
  if (code >= 97 && code <= 102) return code - 87
  if (code >= 65 && code <= 70) return code - 55
  throw new TypeError('not hex')
}

/** Writes the last 8 of 32 bytes; the others must be zero. @throws when it exceeds uint64. */
export function writeUint64(value: Value, out: Uint8Array, at: number): void {
  const small = toSmallInteger(value)
  if (small === undefined) {
    writeUint(value, 64, out, at)
    return
  }
  write32(Math.floor(small / 0x1_0000_0000), out, at + 24)
  write32(small >>> 0, out, at + 28)
}

/** Writes 32 bytes. @throws when it is not an integer of that size. */
export function writeUint(value: Value, bits: 64 | 256, out: Uint8Array, at: number): void {
  let rest = BigInt(toSmallInteger(value) ?? toBigInteger(value))
  if (rest < 0n || rest >= 1n << BigInt(bits)) throw new RangeError(`not a uint${bits}`)
  for (let i = 31; i >= 0; i--) {
    out[at + i] = Number(rest & 255n)
    rest >>= 8n
  }
}

/** The usual case, without arithmetic on bigints: a safe number, or at most 15 digits. */
function toSmallInteger(value: Value): number | undefined {
  if (typeof value === 'bigint') {
    return value >= 0n && value <= largestSafe ? Number(value) : undefined
  }
  if (typeof value === 'string') return value.length <= 15 ? Number(digits(value)) : undefined
  if (typeof value !== 'number') return undefined
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError('not a whole number')
  return value
}

const largestSafe = BigInt(Number.MAX_SAFE_INTEGER)

function toBigInteger(value: Value): bigint {
  if (typeof value === 'bigint') return value
  if (typeof value === 'string') return BigInt(digits(value))
  throw new TypeError('not an integer')
}

function digits(text: string): string {
  if (!/^(?:0|[1-9][0-9]{0,77})$/.test(text)) throw new TypeError('not a decimal integer')
  return text
}

function write32(value: number, out: Uint8Array, at: number): void {
  out[at] = value >>> 24
  out[at + 1] = value >>> 16
  out[at + 2] = value >>> 8
  out[at + 3] = value
}
