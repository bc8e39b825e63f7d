/** Pauses the key of a secret that was reported as leaked, and tells its owner. */
import type { Deps } from '../../app/deps-port.ts'
import { noteKey, tellKey } from './note.ts'
import { hashSecret, isSecret } from './secret.ts'

/** The actor in the audit and the event: reports have no sender. */
const actor = 'leak report'

/**
 * Pauses the key of a working secret, with all keys below it; runs in flight continue. Any other
 * text changes nothing. The key can be resumed once its secret was rotated.
 */
export async function reportLeak(
  { ids, keys, ledger }: Pick<Deps, 'ids' | 'keys' | 'ledger'>,
  secret: string,
): Promise<void> {
  if (!isSecret(secret)) return
  const caller = await keys.findCaller(hashSecret(secret))
  if (!caller) return
  const { id, lineage, accountId } = caller.key
  await ledger.post({
    isExempt: true,
    account: accountId,
    keys: lineage,
    decide(unit) {
      const key = unit.key(id)
      if (!key || key.revokedAt !== null || key.pausedReason === 'leak') return
      key.pausedAt ??= unit.now
      key.pausedReason = 'leak'
      unit.changed('key', key)
      noteKey(unit, ids, key, { actor, action: 'key.pause', detail: { reason: 'leak' } })
      tellKey(unit, key, { type: 'leak.reported', actor })
    },
  })
  keys.forget(id)
}
