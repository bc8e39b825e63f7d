import { closeSync, fstatSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { userInfo } from 'node:os'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import type { Random } from '../kernel/random.ts'
import { addressOf } from '../verify/address.ts'
import { type Hex, toHex } from '../verify/hex.ts'
import { publicKeyOf, signDigest } from './secp256k1.ts'

/** A key that signs receipts. The key itself lives in a closure: nothing here can print it. */
export type Signer = {
  /** EIP-55. */
  address: string
  /** Uncompressed, 65 bytes. */
  publicKey: Hex
  /** 65 bytes r || s || v over 32 bytes; deterministic. */
  sign(digest: Uint8Array): Uint8Array
}

/**
 * The signer of a key file: 64 hex digits, mode 0600, owned by who runs this. Makes the file
 * when there is none.
 * @throws Error that names the file and what to do, never what is in it.
 */
export function openSigner(options: { keyFile: string; random: Random }): Signer {
  const text = readKeyFile(options.keyFile) ?? makeKeyFile(options)
  return signerFromHex(text, `the signer key in ${options.keyFile}`)
}

/**
 * The signer of a key in hex, with or without `0x`.
 * @throws Error when it is no key; `source` says where it came from.
 */
export function signerFromHex(hex: string, source = 'the signer key'): Signer {
  const digits = hex.trim().replace(/^0x/, '')
  if (!/^[0-9a-fA-F]{64}$/.test(digits)) throw new Error(`${source} is not 64 hex digits`)
  const key = hexToBytes(digits)
  if (!secp256k1.utils.isValidSecretKey(key)) throw new Error(`${source} is out of range`)
  const publicKey = publicKeyOf(key)
  return Object.freeze({
    address: addressOf(publicKey),
    publicKey: toHex(publicKey),
    sign: (digest: Uint8Array) => {
      if (digest.length !== 32) throw new Error('a digest has 32 bytes')
      return signDigest(digest, key)
    },
  })
}

/** The file's text; undefined when there is no file. */
function readKeyFile(path: string): string | undefined {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw new Error(`the signer key file ${path} cannot be opened`)
  }
  try {
    // Of the opened file, not of the path: it cannot be exchanged in between.
    const { mode, uid } = fstatSync(file)
    if (uid !== userInfo().uid) {
      throw new Error(`the signer key file ${path} belongs to another user; chown it`)
    }
    if ((mode & 0o777) !== 0o600) {
      const found = (mode & 0o777).toString(8)
      throw new Error(`the signer key file ${path} has mode ${found}; run: chmod 600 ${path}`)
    }
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

function makeKeyFile({ keyFile, random }: { keyFile: string; random: Random }): string {
  let key = random.bytes(32)
  while (!secp256k1.utils.isValidSecretKey(key)) key = random.bytes(32)
  const text = bytesToHex(key)
  // 'wx': two starts at once must not overwrite each other's key.
  const file = openSync(keyFile, 'wx', 0o600)
  try {
    writeSync(file, `${text}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  return text
}
