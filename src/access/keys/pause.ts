/** Pauses a key and all keys below it. */
import type { Deps } from '../../app/deps-port.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { KeyRow } from '../../storage/db/schema/schema.ts'
import { assertStillMember, membershipOf } from '../membership.ts'
import { assertActs, assertNotRevoked, chainOf, type KeyCommand } from './key.ts'
import { noteKey } from './note.ts'

/**
 * No hold is taken after the commit; runs in flight continue. Pausing twice changes nothing.
 * @throws Refusal `not_found`, `conflict` if it is revoked
 */
export async function pauseKey(
  { ledger, keys, ids }: Pick<Deps, 'ledger' | 'keys' | 'ids'>,
  { keyId, actor, acting }: KeyCommand,
): Promise<KeyRow> {
  const found = (await keys.find(keyId)) ?? refuse('not_found', 'There is no such key.')
  const paused = await ledger.post({
    isExempt: true,
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
      if (key.pausedAt === null) {
        key.pausedAt = unit.now
        unit.changed('key', key)
        noteKey(unit, ids, key, { actor, action: 'key.pause', detail: {} })
      }
      return { ...key }
    },
  })
  keys.forget(keyId)
  return paused
}
