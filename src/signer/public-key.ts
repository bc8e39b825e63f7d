import { secp256k1 } from '@noble/curves/secp256k1.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import { embedBasePoints } from './base-points.macro.ts' with { type: 'macro' }

const { Point } = secp256k1
const basePoints: string = embedBasePoints()

/**
 * The uncompressed public key of a valid 32-byte key, 65 bytes: a sum of at most 64 stored points.
 * Libraries make tables first, which took ten times as long and was a good part of a start. It is
 * computed once a start, of a key that was just read, where nobody outside can time it.
 */
export function publicKeyOf(key: Uint8Array): Uint8Array {
  const points = Buffer.from(basePoints, 'base64')
  const digits = bytesToHex(key)
  let sum = Point.ZERO
  for (let place = 0; place < 64; place++) {
    const digit = Number.parseInt(digits.charAt(63 - place), 16)
    if (digit === 0) continue
    const at = 64 * (15 * place + digit - 1)
    sum = sum.add(Point.fromAffine({ x: uintAt(points, at), y: uintAt(points, at + 32) }))
  }
  return sum.toBytes(false)
}

const uintAt = (bytes: Buffer, at: number): bigint =>
  BigInt(`0x${bytes.toString('hex', at, at + 32)}`)
