/** The key that signs receipts, in a closure from which nothing can print it. */
import { hkdf } from '@noble/hashes/hkdf.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import { utils } from '@noble/secp256k1'
import { type Hex, toHex } from '../../kernel/hex.ts'
import type { Random } from '../../kernel/random.ts'
import { addressOf } from '../../verify/address.ts'
import { readSecretFile, writeKeyFile } from './key-file.ts'
import { fastestCurve } from './secp256k1.ts'

export type Signer = {
  /** EIP-55. */
  address: string
  /** Uncompressed, 65 bytes. */
  publicKey: Hex
  /** 65 bytes r || s || v over 32 bytes; deterministic. */
  sign(digest: Uint8Array): Uint8Array
  /** Derives 32 bytes from the key and a purpose; they do not reveal the key. */
  derive(purpose: string): Uint8Array
}

/**
 * Opens a key file: 64 hex digits, mode 0600, owned by this user. Creates it if it does not exist.
 * @throws Error that names the file and what to do, never its content.
 */
export function openSigner(options: { keyFile: string; random: Random }): Signer {
  return readSigner(options.keyFile) ?? makeSigner(options)
}

/** The signer of a key file; undefined if the file does not exist. */
export function readSigner(keyFile: string): Signer | undefined {
  const text = readSecretFile(keyFile, 'signer key file')
  return text === undefined ? undefined : signerFromHex(text, `the signer key in ${keyFile}`)
}

/** Writes a new key to a new file. @throws if the file exists. */
export function makeSigner({ keyFile, random }: { keyFile: string; random: Random }): Signer {
  let key = random.bytes(32)
  while (!utils.isValidSecretKey(key)) key = random.bytes(32)
  writeKeyFile(keyFile, bytesToHex(key))
  return signerFromBytes(key, 'the new signer key')
}

/**
 * The signer of a key in hex, with or without `0x`.
 * @throws Error naming `source` if it is not a valid key.
 */
export function signerFromHex(hex: string, source = 'the signer key'): Signer {
  const digits = hex.trim().replace(/^0x/, '')
  if (!/^[0-9a-fA-F]{64}$/.test(digits)) throw new Error(`${source} is not 64 hex digits`)
  return signerFromBytes(hexToBytes(digits), source)
}

/** @throws Error naming `source` if the bytes are not a valid key. */
export function signerFromBytes(key: Uint8Array, source: string): Signer {
  if (!utils.isValidSecretKey(key)) throw new Error(`${source} is out of range`)
  const curve = fastestCurve()
  const publicKey = curve.publicKeyOf(key)
  return Object.freeze({
    address: addressOf(publicKey),
    publicKey: toHex(publicKey),
    sign: (digest: Uint8Array) => {
      if (digest.length !== 32) throw new Error('a digest has 32 bytes')
      return curve.sign(digest, key)
    },
    derive: (purpose: string) => hkdf(sha256, key, undefined, utf8ToBytes(purpose), 32),
  })
}
