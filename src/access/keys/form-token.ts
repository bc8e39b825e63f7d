import type { Millis } from '../../kernel/clock.ts'
import { sha256Hex } from '../../kernel/hash.ts'
import { type Ids, makeIds } from '../../kernel/ids.ts'
import { refuse } from '../../kernel/refusal.ts'
import { dayMs } from './key.ts'

/**
 * Makes the token of one form of a key: however often the form is sent, by a reload or a second
 * click, it makes one key, because the token decides the key's id.
 */
export const makeOnce = (ids: Ids, now: Millis): string => `${now}.${ids.make('key').slice(-16)}`

/** Clocks of two nodes may differ by this much. */
const skewMs = 60_000

/**
 * The id of the key that a form makes. It depends on the account too, so that nobody can take an
 * id away from others.
 * @throws Refusal `conflict` for a token that is older than a day or was not made here.
 */
export function idOfOnce(account: string, once: string, now: Millis): string {
  const at = /^(\d{13})\.[0-9a-z]{16}$/.test(once) ? Number(once.slice(0, 13)) : 0
  if (at < now - dayMs || at > now + skewMs) {
    refuse('conflict', 'The form was open for too long. Nothing was made: send it again.')
  }
  const digest = Buffer.from(sha256Hex(`${account}\n${once}`), 'hex')
  return makeIds({ now: () => at }, { bytes: (count) => digest.subarray(0, count) }).make('key')
}
