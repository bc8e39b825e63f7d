/** Signs messages by Standard Webhooks, so that receivers can check them with its libraries. */
import type { Millis } from '../../kernel/clock.ts'
import { hmacSha256 } from '../../kernel/hash.ts'
import type { Random } from '../../kernel/random.ts'

const prefix = 'whsec_'
const secretBytes = 32

export const makeSecret = (random: Random): string =>
  `${prefix}${Buffer.from(random.bytes(secretBytes)).toString('base64')}`

/** The key bytes of a secret, 24 to 64; undefined for any other text. */
export function keyOf(secret: string): Uint8Array | undefined {
  const body = secret.startsWith(prefix) ? secret.slice(prefix.length) : ''
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(body)) return undefined
  const bytes = new Uint8Array(Buffer.from(body, 'base64'))
  return bytes.length >= 24 && bytes.length <= 64 ? bytes : undefined
}

/** One signature per secret: a receiver accepts a message if it knows any of them. */
export function signedHeaders(
  secrets: readonly string[],
  { id, at, body }: { id: string; at: Millis; body: string },
): Record<string, string> {
  const seconds = Math.floor(at / 1000)
  const text = `${id}.${seconds}.${body}`
  const signatures = secrets.flatMap((secret) => {
    const key = keyOf(secret)
    return key ? [`v1,${Buffer.from(hmacSha256(key, text)).toString('base64')}`] : []
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': signatures.join(' '),
  }
}
