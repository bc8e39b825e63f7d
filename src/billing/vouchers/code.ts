/** Makes, reads and hashes the codes of vouchers. */
import { crc32, sha256Hex } from '../../kernel/hash.ts'
import type { Random } from '../../kernel/random.ts'

/**
 * A code is 128 random bits in 26 characters of Crockford's base32 and the lowest 20 bits of their
 * CRC-32 in 4 more, in groups of five: `7ZQ4M-…`. The checksum tells a typing error from a guess.
 */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const bodyChars = 26
const checkChars = 4
const form = /^[0-9A-HJKMNP-TV-Z]{30}$/

export function makeCode(random: Random): string {
  let number = 0n
  for (const byte of random.bytes(16)) number = number * 256n + BigInt(byte)
  const body = base32(number, bodyChars)
  return grouped(body + checksum(body))
}

/** Returns the hash to look a typed code up by; undefined if its form or checksum is wrong. */
export function codeHash(typed: string): string | undefined {
  if (typed.length > 100) return undefined
  const code = typed.toUpperCase().replace(/[\s-]/g, '').replace(/O/g, '0').replace(/[IL]/g, '1')
  if (!form.test(code) || checksum(code.slice(0, bodyChars)) !== code.slice(bodyChars)) return
  return sha256Hex(code)
}

const checksum = (body: string): string => base32(BigInt(crc32(body) & 0xfffff), checkChars)

const grouped = (code: string): string => code.match(/.{5}/g)?.join('-') ?? code

function base32(number: bigint, length: number): string {
  let out = ''
  for (let rest = number; rest > 0n; rest /= 32n) out = alphabet.charAt(Number(rest % 32n)) + out
  return out.padStart(length, '0')
}
