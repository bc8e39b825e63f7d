/** Pauses the key of a leaked secret and the keys that it made, and tells its owner. */
import type { Deps } from '../../app/deps-port.ts'
import { containMade, leakActor, pauseLeaked } from './contain.ts'
import { tellKey } from './note.ts'
import { hashSecret, isSecret } from './secret.ts'

/**
 * Pauses the key of a working secret, or of one that the key itself rotated away in the last 90
 * days, with all keys below it; runs in flight continue. Any other text changes nothing. The key
 * can be resumed once its secret was rotated; keys that it made and its webhooks stay stopped.
 */
export async function reportLeak(
  deps: Pick<Deps, 'clock' | 'ids' | 'keys' | 'ledger' | 'webhooks'>,
  secret: string,
): Promise<void> {
  if (!isSecret(secret)) return
  const { clock, ids, keys, ledger, webhooks } = deps
  const found = await keys.ofLeakedSecret(hashSecret(secret), clock.now())
  if (!found) return
  const { id, lineage, accountId } = found
  const makers = await ledger.post({
    isExempt: true,
    account: accountId,
    keys: lineage,
    below: id,
    decide(unit) {
      const key = unit.key(id)
      if (!key) return []
      if (key.revokedAt === null && pauseLeaked(unit, ids, key)) {
        tellKey(unit, key, { type: 'leak.reported', actor: leakActor })
      }
      return containMade(unit, ids, key)
    },
  })
  keys.forget(id)
  // A job stops within a minute any run that this misses.
  if (makers.length > 0) await webhooks.stopMadeBy(accountId, makers, clock.now())
}
