import type { Deps } from '../../app/deps-port.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { KeyRow } from '../../storage/db/schema.ts'
import { assertNotRevoked, chainOf } from './key.ts'
import { noteKey } from './note.ts'

/**
 * Pauses a key, and with it every key below, until it is resumed. No hold is taken from the
 * commit on; runs in flight end as they would. Pausing twice changes nothing.
 * @throws Refusal `not_found`, `conflict` for a revoked key.
 */
export async function pauseKey(
  { ledger, keys, ids }: Pick<Deps, 'ledger' | 'keys' | 'ids'>,
  { keyId, actor }: { keyId: string; actor: string },
): Promise<KeyRow> {
  const found = (await keys.find(keyId)) ?? refuse('not_found', 'There is no such key.')
  const paused = await ledger.post({
    account: found.accountId,
    keys: found.lineage,
    decide(unit) {
      const chain = chainOf(unit, found.lineage)
      assertNotRevoked(chain)
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
