/** The token of a form that creates a key: sent twice, the form creates one key. */
import type { Millis } from '../../kernel/clock.ts'
import { sha256Hex } from '../../kernel/hash.ts'
import { type Ids, makeIds } from '../../kernel/ids.ts'
import { refuse } from '../../kernel/refusal.ts'
import { dayMs } from './key.ts'

/** The token decides the key's id, so a reload or a second click creates no second key. */
export const makeFormToken = (ids: Ids, now: Millis): string =>
  `${now}.${ids.make('key').slice(-16)}`

/** The clocks of two nodes may differ by this much, in ms. */
const skewMs = 60_000

/**
 * The id of the key that a form creates. It depends on the account too, so that no account can take
 * an id of another. `mark` is what ids of this shard begin with.
 * @throws Refusal `conflict` if the token is older than a day or was not made here.
 */
export function idOfFormToken(account: string, once: string, now: Millis, mark = ''): string {
  const at = /^(\d{13})\.[0-9a-z]{16}$/.test(once) ? Number(once.slice(0, 13)) : 0
  if (at < now - dayMs || at > now + skewMs) {
    refuse('conflict', 'The form has expired and no key was created. Send it again.')
  }
  const digest = Buffer.from(sha256Hex(`${account}\n${once}`), 'hex')
  const random = { bytes: (count: number) => digest.subarray(0, count) }
  return makeIds({ now: () => at }, random, mark).make('key')
}
