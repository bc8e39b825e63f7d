import { secp256k1 as portable } from '@noble/curves/secp256k1.js'

/** Signs 32 bytes with a 32-byte key: r || s || v, v 27 or 28, low s, nonce by RFC 6979. */
export type SignDigest = (digest: Uint8Array, key: Uint8Array) => Uint8Array

type Addon = {
  ecdsaSign(digest: Uint8Array, key: Uint8Array): { signature: Uint8Array; recid: number }
}

/** In plain JavaScript: the fallback, and the oracle of the addon's tests. */
export const signPortably: SignDigest = (digest, key) => {
  const recovered = portable.sign(digest, key, { prehash: false, format: 'recovered' })
  return join(recovered.subarray(1), recovered[0])
}

/** By the C library, three to five times faster; undefined where no build of it runs. */
export function nativeSigner(): SignDigest | undefined {
  const addon = loadAddon()
  return (
    addon &&
    ((digest, key) => {
      const { signature, recid } = addon.ecdsaSign(digest, key)
      return join(signature, recid)
    })
  )
}

let fastest: SignDigest | undefined

/** The fastest there is here, loaded when it first signs: its tables would be a part of a start. */
export const signDigest: SignDigest = (digest, key) => {
  fastest ??= nativeSigner() ?? signPortably
  return fastest(digest, key)
}

/**
 * The package's own entry searches its folder at run time, which an executable does not have,
 * and then falls back to a slow library in silence. A literal path is embedded by the bundler.
 */
function loadAddon(): Addon | undefined {
  const builds = [
    () => require('secp256k1/prebuilds/linux-x64/secp256k1.glibc.node'),
    () => require('secp256k1/prebuilds/linux-x64/secp256k1.musl.node'),
    () => require('secp256k1/prebuilds/darwin-arm64/secp256k1.node'),
  ]
  for (const load of builds) {
    try {
      const { Secp256k1 } = load()
      return require('secp256k1/lib/index.js')(new Secp256k1())
    } catch {
      // Not for this platform: the next one, or none.
    }
  }
  return undefined
}

function join(signature: Uint8Array, recoveryId: number | undefined): Uint8Array {
  // 2 and 3 mean r overflowed the curve's order, which no hash in reach can cause.
  if (recoveryId !== 0 && recoveryId !== 1) throw new Error('a signature without a usable v')
  const out = new Uint8Array(65)
  out.set(signature)
  out[64] = 27 + recoveryId
  return out
}
