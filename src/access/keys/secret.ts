/** Makes, checks and hashes the secrets of keys. */
import { crc32, sha256Hex } from '../../kernel/hash.ts'
import type { Random } from '../../kernel/random.ts'

/**
 * A secret is `sk-service-`, 256 random bits in base62 (43 characters), and the CRC-32 of both in
 * base62 (6 characters). The checksum finds typos and leaked keys offline.
 */
export const secretPrefix = 'sk-service-'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const randomChars = 43
const checksumChars = 6
const form = /^[0-9A-Za-z]{49}$/

/**
 * Tokens of the operator API have the same form under a prefix of their own. A `mark` of two
 * characters begins the 43, which then hold 240 random bits: a balancer routes by it.
 */
export function makeSecret(random: Random, prefix = secretPrefix, mark = ''): string {
  let number = 0n
  for (const byte of random.bytes(mark === '' ? 32 : 30)) number = number * 256n + BigInt(byte)
  const body = prefix + mark + base62(number, randomChars - mark.length)
  return body + checksum(body)
}

/** The two characters behind the prefix: on a shard, the mark of the key's slot. */
export const markIn = (secret: string): string =>
  secret.slice(secretPrefix.length, secretPrefix.length + 2)

/** Whether `text` is as long as a secret: checked before it is hashed. */
export const hasLengthOfSecret = (text: string): boolean =>
  text.length === secretPrefix.length + randomChars + checksumChars

/** Whether `text` has the form and the checksum of a secret: checked before any look-up. */
export const isSecret = (text: string): boolean => hasSecretForm(text, secretPrefix)

/** {@link isSecret} for another prefix, which must be as long as that of keys. */
export function hasSecretForm(text: string, prefix: string): boolean {
  if (!text.startsWith(prefix) || !form.test(text.slice(prefix.length))) return false
  return checksum(text.slice(0, -checksumChars)) === text.slice(-checksumChars)
}

/** The stored form of a secret. */
export const hashSecret = (secret: string): string => sha256Hex(secret)

/** The first 12 hex digits of a secret's hash, which pages show. */
export const fingerprintOf = (hash: string): string => hash.slice(0, 12)

/** On the path of every request: `bigint` would take ten times as long. */
function checksum(body: string): string {
  let out = ''
  let rest = crc32(body)
  for (let i = 0; i < checksumChars; i++) {
    out = alphabet.charAt(rest % 62) + out
    rest = Math.floor(rest / 62)
  }
  return out
}

/** Big-endian, left-padded with `0`. */
function base62(number: bigint, length: number): string {
  let out = ''
  for (let rest = number; rest > 0n; rest /= 62n) out = alphabet.charAt(Number(rest % 62n)) + out
  return out.padStart(length, '0')
}
