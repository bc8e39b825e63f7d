/** AES-256-GCM: the nonce, then what was encrypted, then the tag. */
import { createCipheriv, createDecipheriv } from 'node:crypto'
import type { Random } from './random.ts'

const nonceBytes = 12
const tagBytes = 16

/** Encrypts bytes under a key of 32 bytes; only `place` opens them again. */
export function encrypt(
  key: Uint8Array,
  plain: Uint8Array,
  { place, random }: { place: string; random: Random },
): Uint8Array {
  const nonce = random.bytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  cipher.setAAD(Buffer.from(place))
  const body = cipher.update(plain)
  cipher.final()
  return new Uint8Array(Buffer.concat([nonce, body, cipher.getAuthTag()]))
}

/** Decrypts them; undefined if this key did not encrypt them for this place. */
export function decrypt(
  key: Uint8Array,
  sealed: Uint8Array,
  place: string,
): Uint8Array<ArrayBuffer> | undefined {
  if (sealed.length < nonceBytes + tagBytes) return undefined
  const nonce = sealed.subarray(0, nonceBytes)
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes })
  decipher.setAAD(Buffer.from(place))
  decipher.setAuthTag(sealed.subarray(-tagBytes))
  const body = decipher.update(sealed.subarray(nonceBytes, -tagBytes))
  try {
    decipher.final()
    return new Uint8Array(body)
  } catch {
    return undefined
  }
}
