/** Bytes as 0x text. Browsers before 2025 verify receipts too, and lack `toHex` and `fromHex`. */

/** Bytes as text: `0x` and two digits a byte. */
export type Hex = `0x${string}`

const isNative = 'fromHex' in Uint8Array

export const toHex = (bytes: Uint8Array): Hex =>
  `0x${isNative ? bytes.toHex() : Array.from(bytes, digitsOf).join('')}`

const digitsOf = (byte: number) => byte.toString(16).padStart(2, '0')

/** The bytes of `0x…` text. @throws when it is not hex. */
export function fromHex(text: string): Uint8Array {
  if (!/^0x(?:[0-9a-fA-F]{2})*$/.test(text)) throw new TypeError('not hex that starts with 0x')
  if (isNative) return Uint8Array.fromHex(text.slice(2))
  return Uint8Array.from(text.slice(2).match(/../g) ?? [], (two) => Number.parseInt(two, 16))
}
