/** Revokes a key and all keys below it for good. */
import type { Deps } from '../../app/deps-port.ts'
import { refuse } from '../../kernel/refusal.ts'
import { assertStillMember, membershipOf } from '../membership.ts'
import type { KeyCommand } from './key.ts'
import { noteKey, tellKey } from './note.ts'

/**
 * Marks each key, so that none counts as active. No hold is taken after the commit; the watcher of
 * live runs stops those in flight. Revoking twice changes nothing. `stopped` counts the key and
 * those below it.
 * @throws Refusal `not_found`.
 */
export async function revokeKey(
  { ledger, keys, ids }: Pick<Deps, 'ledger' | 'keys' | 'ids'>,
  { keyId, actor, acting }: KeyCommand,
): Promise<{ stopped: number }> {
  const found = (await keys.find(keyId)) ?? refuse('not_found', 'There is no such key.')
  const stopped = await ledger.post({
    account: found.accountId,
    keys: [keyId],
    below: keyId,
    parts: membershipOf(acting),
    decide(unit) {
      assertStillMember(unit, acting)
      const all = unit.below(keyId)
      const live = all.filter((key) => key.revokedAt === null)
      for (const key of live) {
        unit.revokeKey(key, actor)
        tellKey(unit, key, { type: 'key.revoked', actor })
      }
      const key = live.find(({ id }) => id === keyId)
      const detail = { stopped: live.length }
      if (key) noteKey(unit, ids, key, { actor, action: 'key.revoke', detail })
      return all.length
    },
  })
  keys.forget(keyId)
  return { stopped }
}
