/** Bytes as 0x text. */
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'

/** Bytes as text: `0x` and two digits a byte. */
export type Hex = `0x${string}`

export const toHex = (bytes: Uint8Array): Hex => `0x${bytesToHex(bytes)}`

/** The bytes of `0x…` text. @throws when it is not hex. */
export function fromHex(text: string): Uint8Array {
  if (!text.startsWith('0x')) throw new TypeError('hex starts with 0x')
  return hexToBytes(text.slice(2))
}
