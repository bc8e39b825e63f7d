/** Sets how long the texts of an account are kept. */
import type { Deps } from '../../app/deps-port.ts'
import type { Retention } from './retention.ts'

/**
 * A shorter retention also applies to texts that are kept already; `none` deletes them before this
 * resolves, with all responses, and keeps neither from then on. Texts revealed in a shared receipt
 * belong to the share and stay until it is withdrawn.
 */
export async function setRetention(
  { texts, clock, ids }: Pick<Deps, 'texts' | 'clock' | 'ids'>,
  { account, retention, actor }: { account: string; retention: Retention; actor: string },
): Promise<void> {
  const now = clock.now()
  await texts.setRetention(account, retention, now, (before) => ({
    id: ids.make('req'),
    at: now,
    actor,
    action: 'retention.set',
    accountId: account,
    subject: account,
    detail: { from: before, to: retention },
  }))
  if (retention === 'none') await texts.dropAll(account)
}
