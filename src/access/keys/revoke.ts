import type { Deps } from '../../app/deps-port.ts'
import { refuse } from '../../kernel/refusal.ts'
import { noteKey } from './note.ts'

/**
 * Revokes a key for good, and with it every key below: each is marked, so that none of them
 * counts as active. Revoking twice changes nothing. Runs in flight are stopped by whoever watches
 * them; no hold is taken from the commit on. `stopped` counts the key and those below it.
 * @throws Refusal `not_found`.
 */
export async function revokeKey(
  { ledger, keys, ids }: Pick<Deps, 'ledger' | 'keys' | 'ids'>,
  { keyId, actor }: { keyId: string; actor: string },
): Promise<{ stopped: number }> {
  const found = (await keys.find(keyId)) ?? refuse('not_found', 'There is no such key.')
  const stopped = await ledger.post({
    account: found.accountId,
    keys: [keyId],
    below: keyId,
    decide(unit) {
      const all = unit.below(keyId)
      const live = all.filter((key) => key.revokedAt === null)
      for (const key of live) unit.revokeKey(key, actor)
      const key = live.find(({ id }) => id === keyId)
      const detail = { stopped: live.length }
      if (key) noteKey(unit, ids, key, { actor, action: 'key.revoke', detail })
      return all.length
    },
  })
  keys.forget(keyId)
  return { stopped }
}
