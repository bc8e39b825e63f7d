/** Ethereum addresses with checksums. */
import { toHex } from '../kernel/hex.ts'
import { keccak256 } from './keccak.ts'

/** An Ethereum address with its EIP-55 checksum. `address` is `0x` and 40 hex digits. */
export function toChecksumAddress(address: string): string {
  const digits = address.slice(2).toLowerCase()
  const hash = keccak256(new TextEncoder().encode(digits))
  let out = '0x'
  for (let i = 0; i < 40; i++) {
    const nibble = ((hash[i >> 1] ?? 0) >> (i % 2 === 0 ? 4 : 0)) & 15
    out += nibble >= 8 ? digits.charAt(i).toUpperCase() : digits.charAt(i)
  }
  return out
}

/** Whether it is `0x` and 40 hex digits, in lower case or with the right EIP-55 checksum. */
export function isAddress(text: string): boolean {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return false
  return text === text.toLowerCase() || text === toChecksumAddress(text)
}

/** The address of an uncompressed public key: 65 bytes that begin with 4. */
export const addressOf = (publicKey: Uint8Array): string =>
  toChecksumAddress(toHex(keccak256(publicKey.subarray(1)).subarray(12)))
