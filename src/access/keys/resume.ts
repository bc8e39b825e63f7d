/** Ends the pause of a key. */
import type { Deps } from '../../app/deps-port.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { KeyRow } from '../../storage/db/schema/schema.ts'
import { assertStillMember, membershipOf } from '../membership.ts'
import { assertActs, assertNotRevoked, chainOf, type KeyCommand } from './key.ts'
import { noteKey } from './note.ts'

/**
 * The key and those below work again unless another key of their chain is paused; what it made is,
 * after a leak. Resuming a key that is not paused changes nothing.
 * @throws Refusal `not_found`, `conflict` if it is revoked, or leaked and not rotated since
 */
export async function resumeKey(
  { ledger, keys, ids }: Pick<Deps, 'ledger' | 'keys' | 'ids'>,
  { keyId, actor, acting }: KeyCommand,
): Promise<KeyRow> {
  const found = (await keys.find(keyId)) ?? refuse('not_found', 'There is no such key.')
  const resumed = await ledger.post({
    isExempt: actor === 'operator',
    isRepair: true,
    account: found.accountId,
    keys: found.lineage,
    parts: membershipOf(acting),
    decide(unit) {
      assertStillMember(unit, acting)
      const chain = chainOf(unit, found.lineage)
      assertNotRevoked(chain)
      assertActs(chain, actor, unit.now)
      const [key] = chain
      if (!key) throw new Error('a chain without a key')
      if (key.pausedReason === 'leak') {
        refuse('conflict', 'Its secret may be known to others. Rotate it, then resume the key.')
      }
      if (key.pausedAt !== null) {
        key.pausedAt = null
        key.pausedReason = null
        unit.changed('key', key)
        noteKey(unit, ids, key, { actor, action: 'key.resume', detail: {} })
      }
      return { ...key }
    },
  })
  keys.forget(keyId)
  return resumed
}
