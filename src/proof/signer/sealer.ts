/** Encrypts stored replies and fingerprints requests, with keys derived from the signer's. */
import { createCipheriv, createDecipheriv } from 'node:crypto'
import { hmacSha256, sha256Hex } from '../../kernel/hash.ts'
import type { Random } from '../../kernel/random.ts'
import type { Sealer } from '../../storage/idempotency/call.ts'
import type { Signer } from './signer.ts'

const nonceBytes = 12
const tagBytes = 16
/** Shorter texts gain nothing from compression. */
const packFrom = 2048

/** Nodes with the same signer key can open each other's replies. */
export function makeSealer(
  signer: Pick<Signer, 'derive'>,
  random: Random,
  what = 'idempotent replies',
): Sealer {
  const key = signer.derive(`counterfoil ${what} v1`)
  const print = signer.derive('counterfoil idempotent requests v1')
  return {
    name: sha256Hex(key).slice(0, 8),
    fingerprint: (text) => Buffer.from(hmacSha256(print, text)).toString('hex'),
    seal(text, place) {
      const nonce = random.bytes(nonceBytes)
      const cipher = createCipheriv('aes-256-gcm', key, nonce)
      cipher.setAAD(Buffer.from(place))
      const body = cipher.update(pack(text))
      cipher.final()
      return new Uint8Array(Buffer.concat([nonce, body, cipher.getAuthTag()]))
    },
    open(sealed, place) {
      if (sealed.length < nonceBytes + tagBytes) return undefined
      const nonce = sealed.subarray(0, nonceBytes)
      const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes })
      decipher.setAAD(Buffer.from(place))
      decipher.setAuthTag(sealed.subarray(-tagBytes))
      const body = decipher.update(sealed.subarray(nonceBytes, -tagBytes))
      try {
        decipher.final()
      } catch {
        return undefined
      }
      return unpack(body)
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
