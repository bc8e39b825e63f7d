/** Opens Web3 keystores, version 3. */
import { createDecipheriv, pbkdf2Sync, scryptSync, timingSafeEqual } from 'node:crypto'
import { scrypt } from '@noble/hashes/scrypt.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { fromHex } from '../../kernel/hex.ts'
import { isObject } from '../../verify/receipt.ts'

/** The most memory for key derivation, in bytes; the usual n = 2^18 takes 256 MiB. */
const scryptBytes = 1024 ** 3
const pbkdf2Rounds = 10_000_000

/**
 * Returns the 32-byte key of a keystore (scrypt or PBKDF2, aes-128-ctr, Keccak MAC).
 * @throws Error that says what is wrong, and never quotes the file or the password.
 */
export function openKeystore(text: string, password: string): Uint8Array {
  const crypto = readCrypto(text)
  const ciphertext = hexOf(crypto['ciphertext'], 'ciphertext')
  const derived = derive(crypto, password)
  const mac = keccak_256(new Uint8Array([...derived.subarray(16, 32), ...ciphertext]))
  const expected = hexOf(crypto['mac'], 'mac')
  if (expected.length !== mac.length || !timingSafeEqual(mac, expected)) {
    throw new Error('the password does not open the keystore')
  }
  if (crypto['cipher'] !== 'aes-128-ctr') throw new Error('the keystore’s cipher is not supported')
  const iv = hexOf(membersOf(crypto['cipherparams'], 'cipherparams')['iv'], 'iv')
  const decipher = createDecipheriv('aes-128-ctr', derived.subarray(0, 16), iv)
  return new Uint8Array([...decipher.update(ciphertext), ...decipher.final()])
}

function readCrypto(text: string): Record<string, unknown> {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    throw new Error('the keystore is not JSON')
  }
  const keystore = membersOf(parsed, 'whole')
  if (keystore['version'] !== 3) throw new Error('the keystore’s version is not 3')
  return membersOf(keystore['crypto'] ?? keystore['Crypto'], 'crypto')
}

function derive(crypto: Record<string, unknown>, password: string): Uint8Array {
  const params = membersOf(crypto['kdfparams'], 'kdfparams')
  const salt = hexOf(params['salt'], 'salt')
  const length = countOf(params, 'dklen', 64)
  if (length < 32) throw new Error('the keystore’s dklen is below 32')
  if (crypto['kdf'] === 'scrypt') {
    const [n, r, p] = [
      countOf(params, 'n', 2 ** 24),
      countOf(params, 'r', 64),
      countOf(params, 'p', 64),
    ]
    if (128 * n * r > scryptBytes)
      throw new Error('the keystore needs more than 1 GiB of memory to open')
    const maxmem = scryptBytes + 128 * r * p + 1024 ** 2
    // The native scrypt rejects n ≥ 2^(16 r), which the RFC's own example uses.
    return n < 2 ** (16 * r)
      ? scryptSync(password, salt, length, { N: n, r, p, maxmem })
      : scrypt(password, salt, { N: n, r, p, dkLen: length, maxmem })
  }
  if (crypto['kdf'] !== 'pbkdf2') throw new Error('the keystore’s kdf is not supported')
  if (params['prf'] !== 'hmac-sha256') throw new Error('the keystore’s prf is not supported')
  return pbkdf2Sync(password, salt, countOf(params, 'c', pbkdf2Rounds), length, 'sha256')
}

function membersOf(value: unknown, name: string): Record<string, unknown> {
  if (!isObject(value)) throw new Error(`the keystore’s ${name} is not an object`)
  return value
}

function countOf(params: Record<string, unknown>, name: string, most: number): number {
  const value = params[name]
  if (typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= most) {
    return value
  }
  throw new Error(`the keystore’s ${name} is not a whole number from 1 to ${most}`)
}

function hexOf(value: unknown, name: string): Uint8Array {
  if (typeof value === 'string' && /^(0x)?([0-9a-fA-F]{2})+$/.test(value)) {
    return fromHex(`0x${value.replace(/^0x/, '')}`)
  }
  throw new Error(`the keystore’s ${name} is not hexadecimal`)
}
