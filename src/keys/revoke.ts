import type { Deps } from '../deps.ts'
import { refuse } from '../kernel/refusal.ts'

/**
 * Revokes a key for good, and with it every key below. Revoking twice changes nothing. Runs in
 * flight are stopped by whoever watches them; no hold is taken from the commit on.
 * @throws Refusal `not_found`.
 */
export async function revokeKey(
  { ledger, keys, ids }: Pick<Deps, 'ledger' | 'keys' | 'ids'>,
  { keyId, actor }: { keyId: string; actor: string },
): Promise<{ stopped: number }> {
  const found = (await keys.find(keyId)) ?? refuse('not_found', 'There is no such key.')
  await ledger.post({
    account: found.accountId,
    keys: [keyId],
    decide(book) {
      const key = book.key(keyId)
      if (!key || key.revokedAt !== null) return
      key.revokedAt = book.now
      key.revokedBy = actor
      book.changed('key', key)
      book.addAudit({
        id: ids.make('req'),
        at: book.now,
        actor,
        action: 'key.revoke',
        accountId: key.accountId,
        subject: keyId,
        detail: {},
      })
    },
  })
  keys.forget(keyId)
  return { stopped: (await keys.subtree(found)).length }
}
