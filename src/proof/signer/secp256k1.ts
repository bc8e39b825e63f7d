/** Signs with secp256k1: by the native addon, or by a library where no build of it runs. */
import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { getPublicKey, hashes, sign } from '@noble/secp256k1'

/** Signing and key derivation on secp256k1; keys are valid and have 32 bytes. */
export type Curve = {
  /** Signs 32 bytes: r || s || v, v 27 or 28, low s, nonce by RFC 6979. */
  sign(digest: Uint8Array, key: Uint8Array): Uint8Array
  /** The uncompressed public key, 65 bytes. */
  publicKeyOf(key: Uint8Array): Uint8Array
}

type Addon = {
  ecdsaSign(digest: Uint8Array, key: Uint8Array): { signature: Uint8Array; recid: number }
  publicKeyCreate(key: Uint8Array, compressed: boolean): Uint8Array
}

hashes.hmacSha256 = (key, message) => new Uint8Array(hmac(sha256, key, message))

/** In plain JavaScript: for platforms without a build of the addon, and the oracle of its tests. */
export const portableCurve: Curve = {
  sign(digest, key) {
    const recovered = sign(digest, key, { prehash: false, format: 'recovered' })
    return join(recovered.subarray(1), recovered[0])
  },
  publicKeyOf: (key) => getPublicKey(key, false),
}

/** The C library, three to five times faster; undefined where no build of it runs. */
export function nativeCurve(): Curve | undefined {
  const addon = loadAddon()
  return (
    addon && {
      sign(digest, key) {
        const { signature, recid } = addon.ecdsaSign(digest, key)
        return join(signature, recid)
      },
      publicKeyOf: (key) => addon.publicKeyCreate(key, false),
    }
  )
}

let fastest: { curve: Curve; kind: 'native' | 'portable' } | undefined

/** The fastest implementation on this platform, loaded once. */
export const fastestCurve = (): Curve => findFastest().curve

/** The kind of implementation that {@link fastestCurve} chose. */
export const kindOfCurve = (): 'native' | 'portable' => findFastest().kind

function findFastest() {
  if (fastest) return fastest
  const native = nativeCurve()
  fastest = { curve: native ?? portableCurve, kind: native ? 'native' : 'portable' }
  return fastest
}

declare const COUNTERFOIL_BUILD_PLATFORM: string | undefined

/** The platform that was built for; empty from source, where every build of the addon is tried. */
const builtFor = typeof COUNTERFOIL_BUILD_PLATFORM === 'undefined' ? '' : COUNTERFOIL_BUILD_PLATFORM

/**
 * The package's own entry searches its folder at run time, which an executable does not have,
 * and then falls back to a slow library in silence. A literal path is embedded by the bundler, and
 * a literal platform lets it leave out the builds for others.
 */
function loadAddon(): Addon | undefined {
  if (builtFor === '' || builtFor === 'linux-x64' || builtFor === 'linux-x64-modern') {
    const addon = wrap(() => require('secp256k1/prebuilds/linux-x64/secp256k1.glibc.node'))
    if (addon) return addon
  }
  if (builtFor === '' || builtFor === 'linux-x64-musl') {
    const addon = wrap(() => require('secp256k1/prebuilds/linux-x64/secp256k1.musl.node'))
    if (addon) return addon
  }
  if (builtFor === '' || builtFor === 'darwin-arm64') {
    const addon = wrap(() => require('secp256k1/prebuilds/darwin-arm64/secp256k1.node'))
    if (addon) return addon
  }
  if (builtFor === '' || builtFor === 'windows-x64') {
    return wrap(() => require('secp256k1/prebuilds/win32-x64/secp256k1.node'))
  }
  return undefined
}

type Native = { Secp256k1: new () => unknown }

/** The addon of one build; undefined where it is not for this platform. */
function wrap(load: () => Native): Addon | undefined {
  try {
    const { Secp256k1 } = load()
    return require('secp256k1/lib/index.js')(new Secp256k1())
  } catch {
    return undefined
  }
}

function join(signature: Uint8Array, recoveryId: number | undefined): Uint8Array {
  // 2 and 3 mean r overflowed the curve's order, which no hash in reach can cause.
  if (recoveryId !== 0 && recoveryId !== 1) throw new Error('a signature without a usable v')
  const out = new Uint8Array(65)
  out.set(signature)
  out[64] = 27 + recoveryId
  return out
}
