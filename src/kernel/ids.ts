import type { Clock, Millis } from './clock.ts'
import type { Random } from './random.ts'

/** The noun an id names; the id is `<prefix>_` and 26 Crockford base32 characters. */
export type IdPrefix = 'key' | 'run' | 'rcpt' | 'req' | 'dep' | 'anc' | 'sub' | 'psp' | 'sess'

/** Makes ids: 48 bits of time, so that rows sort by age, and 80 bits nobody can guess. */
export type Ids = { make(prefix: IdPrefix): string }

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

export function makeIds(clock: Pick<Clock, 'now'>, random: Random): Ids {
  let lastAt = -1
  let lastTime = ''
  return {
    make(prefix) {
      const at = clock.now()
      if (at !== lastAt) {
        lastAt = at
        lastTime = encodeTime(at)
      }
      return `${prefix}_${lastTime}${encodeEntropy(random.bytes(10))}`
    },
  }
}

/** Whether `text` is an id of this kind; cheap enough to ask before any database work. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return (
    text.startsWith(`${prefix}_`) && /^[0-9a-hjkmnp-tv-z]{26}$/.test(text.slice(prefix.length + 1))
  )
}

/** What every id made at `at` or later is not before: ids sort by their time. */
export const firstIdAt = (prefix: IdPrefix, at: Millis): string => `${prefix}_${encodeTime(at)}`

/** 48 bits of milliseconds as ten base32 characters; sorts like the number. */
function encodeTime(at: Millis): string {
  let rest = at
  let out = ''
  for (let i = 0; i < 10; i++) {
    out = alphabet.charAt(rest % 32) + out
    rest = Math.floor(rest / 32)
  }
  return out
}

/** Ten bytes as sixteen base32 characters, two groups of 40 bits. */
function encodeEntropy(bytes: Uint8Array): string {
  let out = ''
  let bits = 0
  let held = 0
  for (const byte of bytes) {
    held = (held << 8) | byte
    bits += 8
    while (bits >= 5) {
      bits -= 5
      out += alphabet.charAt((held >> bits) & 31)
    }
    held &= (1 << bits) - 1
  }
  return out
}
