import type { Deps } from '../../app/deps-port.ts'
import { toRfc3339 } from '../../kernel/clock.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { Once } from '../../ledger/once.ts'
import type { KeyRow } from '../../storage/db/schema.ts'
import { assertNotRevoked, chainOf } from './key.ts'
import { noteKey } from './note.ts'
import { fingerprintOf, hashSecret, makeSecret } from './secret.ts'
import type { ShownKey } from './shown-key.ts'

/** The longest that an old secret may work beside the new one: a week. */
export const maxOverlapSeconds = 604_800

type RotateWish = {
  keyId: string
  actor: string
  overlapSeconds: number
  from?: string | undefined
  /** Where the caller sent an Idempotency-Key. */
  once?: Once<ShownKey> | undefined
}

/**
 * Gives a key another secret and returns it, this once. The one before works for `overlapSeconds`
 * (0–604800) more; one that was already on its way out ends now, so at most two ever work.
 * `from` is the fingerprint of the secret that is to go, for whoever may ask twice and is to get
 * one.
 * @throws Refusal `not_found`, `invalid_request` with `param`, `conflict` for a revoked key and for
 * one whose secret is not that of `from` any more.
 */
export async function rotateKey(
  { ledger, keys, random, ids }: Pick<Deps, 'ledger' | 'keys' | 'random' | 'ids'>,
  { keyId, actor, overlapSeconds, from, once }: RotateWish,
): Promise<{ key: KeyRow; secret: string }> {
  const isWhole = Number.isInteger(overlapSeconds)
  if (!isWhole || overlapSeconds < 0 || overlapSeconds > maxOverlapSeconds) {
    const message = 'An overlap is between 0 and 604,800 seconds, which is a week.'
    refuse('invalid_request', { param: 'overlap_seconds', message })
  }
  const found = (await keys.find(keyId)) ?? refuse('not_found', 'There is no such key.')
  const secret = makeSecret(random)
  const hash = hashSecret(secret)
  const key = await ledger.post({
    account: found.accountId,
    keys: found.lineage,
    secretsOf: keyId,
    call: once?.scope,
    decide(unit) {
      once?.assertFirst(unit)
      const chain = chainOf(unit, found.lineage)
      assertNotRevoked(chain)
      const [key] = chain
      if (!key) throw new Error('a chain without a key')
      if (from !== undefined && from !== key.fingerprint) {
        refuse('conflict', 'The secret was rotated meanwhile. It was shown once, to whoever did.')
      }
      const overlapUntil = unit.now + overlapSeconds * 1000
      for (const old of unit.secrets(keyId)) {
        old.validUntil = old.validUntil === null ? overlapUntil : unit.now
        unit.changed('secret', old)
      }
      unit.addSecret({ hash, keyId, validUntil: null })
      const fingerprint = { from: key.fingerprint, to: fingerprintOf(hash) }
      key.fingerprint = fingerprint.to
      unit.changed('key', key)
      const detail = { fingerprint, overlap_until: toRfc3339(overlapUntil) }
      noteKey(unit, ids, key, { actor, action: 'key.rotate', detail })
      const left = overlapSeconds > 0 ? overlapUntil : null
      once?.note(unit, { key, chain, window: unit.window(key), overlapUntil: left })
      return { ...key }
    },
  })
  keys.forget(keyId)
  return { key, secret }
}
