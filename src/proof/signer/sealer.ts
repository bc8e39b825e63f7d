/** Encrypts stored replies and fingerprints requests, with keys derived from the signer's. */
import { decrypt, encrypt } from '../../kernel/aead.ts'
import { hmacSha256, sha256Hex } from '../../kernel/hash.ts'
import type { Random } from '../../kernel/random.ts'
import type { Sealer } from '../../storage/idempotency/call.ts'
import type { Signer } from './signer.ts'

/** Shorter texts gain nothing from compression. */
const packFrom = 512

/** Nodes with the same signer key can open each other's replies. */
export function makeSealer(signer: Pick<Signer, 'derive'>, random: Random): Sealer {
  const key = signer.derive('counterfoil idempotent replies v1')
  const print = signer.derive('counterfoil idempotent requests v1')
  return {
    name: sha256Hex(key).slice(0, 8),
    fingerprint: (text) => Buffer.from(hmacSha256(print, text)).toString('hex'),
    seal: (text, place) => encrypt(key, pack(text), { place, random }),
    open(sealed, place) {
      const packed = decrypt(key, sealed, place)
      return packed && unpack(packed)
    },
  }
}

/** Streams are repetitive: compression shrinks them to a tenth. */
function pack(text: string): Uint8Array {
  const bytes = Buffer.from(text)
  if (bytes.length < packFrom) return Buffer.concat([Buffer.of(0), bytes])
  return Buffer.concat([Buffer.of(1), Bun.deflateSync(bytes, { level: 1 })])
}

function unpack(packed: Uint8Array<ArrayBuffer>): string {
  const rest = packed.subarray(1)
  return Buffer.from(packed[0] === 1 ? Bun.inflateSync(rest) : rest).toString()
}
