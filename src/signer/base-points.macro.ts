import { secp256k1 } from '@noble/curves/secp256k1.js'

/**
 * The multiples of secp256k1's base point that any key's public one is a sum of, made while Bun
 * transpiles: for each of 64 hex digits, the lowest first, the digits 1 to 15 at its place; x and
 * y of each in 32 bytes, all as base64.
 */
export function embedBasePoints(): string {
  const bytes: Uint8Array[] = []
  let place = secp256k1.Point.BASE
  for (let digit = 0; digit < 64; digit++) {
    let multiple = place
    for (let value = 1; value < 16; value++) {
      bytes.push(multiple.toBytes(false).subarray(1))
      multiple = multiple.add(place)
    }
    place = multiple
  }
  return Buffer.concat(bytes).toString('base64')
}
