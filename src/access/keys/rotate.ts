/** Gives a key a new secret; the old one may work for a while. */
import type { Deps } from '../../app/deps-port.ts'
import { toRfc3339 } from '../../kernel/clock.ts'
import { refuse, refuseField } from '../../kernel/refusal.ts'
import { accountMark } from '../../kernel/shard.ts'
import type { Once } from '../../ledger/once.ts'
import type { KeyRow } from '../../storage/db/schema/schema.ts'
import { findKey, postForKey } from './command-key.ts'
import type { KeyCommand } from './key.ts'
import { noteKey } from './note.ts'
import { fingerprintOf, hashSecret, makeSecret, secretPrefix } from './secret.ts'
import type { ShownKey } from './shown-key.ts'

/** The longest overlap of two secrets: a week. */
export const maxOverlapSeconds = 604_800

/** @throws Refusal `invalid_request` */
export function assertOverlap(seconds: number): void {
  if (Number.isInteger(seconds) && seconds >= 0 && seconds <= maxOverlapSeconds) return
  refuseField('overlap_seconds', 'Send an overlap of 0 to 604,800 seconds (a week).')
}

type RotateRequest = KeyCommand & {
  overlapSeconds: number
  from?: string | undefined
  /** Set if the caller sent an Idempotency-Key. */
  once?: Once<ShownKey> | undefined
}

/**
 * Returns the new secret, once. The old secret works for `overlapSeconds` (0–604800) more; an
 * older one ends now, so at most two work at a time. `from` is the fingerprint of the secret to
 * replace: a repeated request with it creates no second secret.
 * @throws Refusal `not_found`, `invalid_request` with `param`, `conflict` if the key is
 * revoked, its secret is no longer `from`, or a leaked one would go on working
 */
export async function rotateKey(
  deps: Pick<Deps, 'ledger' | 'keys' | 'random' | 'ids' | 'shard'>,
  { overlapSeconds, from, ...command }: RotateRequest,
): Promise<{ key: KeyRow; secret: string }> {
  const { random, ids, shard } = deps
  const { keyId, actor, once } = command
  assertOverlap(overlapSeconds)
  const found = await findKey(deps, keyId)
  const secret = makeSecret(random, secretPrefix, accountMark(shard, found.accountId))
  const hash = hashSecret(secret)
  const key = await postForKey(deps, found, command, {
    isRepair: true,
    secretsOf: keyId,
    decide(unit, key, chain) {
      if (from !== undefined && from !== key.fingerprint) {
        refuse('conflict', 'The secret was rotated meanwhile. The new one was shown once.')
      }
      if (key.pausedReason === 'leak') {
        if (overlapSeconds > 0) {
          refuse('conflict', 'The old secret was reported as leaked: rotate it without an overlap.')
        }
        // It stays paused until its owner resumes it, as one that was paused by hand.
        key.pausedReason = null
        key.leakAnsweredAt = unit.now
      }
      const overlapUntil = unit.now + overlapSeconds * 1000
      for (const old of unit.secrets(keyId)) {
        old.validUntil = old.validUntil === null ? overlapUntil : unit.now
        old.selfRotated = actor === keyId
        unit.changed('secret', old)
      }
      unit.addSecret({ hash, keyId, validUntil: null, selfRotated: false })
      // A thief of the old secret may have asked for this one, or goes on with the old.
      const isAbove = actor !== keyId && key.lineage.includes(actor)
      if (isAbove || (actor !== keyId && overlapSeconds === 0)) key.secretBy = actor
      const fingerprint = { from: key.fingerprint, to: fingerprintOf(hash) }
      key.fingerprint = fingerprint.to
      unit.changed('key', key)
      const detail = { fingerprint, overlap_until: toRfc3339(overlapUntil) }
      noteKey(unit, ids, key, { actor, action: 'key.rotate', detail })
      const left = overlapSeconds > 0 ? overlapUntil : null
      once?.note(unit, { key, chain, window: unit.window(key), overlapUntil: left })
    },
  })
  return { key, secret }
}
