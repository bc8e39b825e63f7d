import type { Deps } from '../../app/deps-port.ts'
import type { Retention } from './retention.ts'

/**
 * Says how long an account's texts are kept from now on. A shorter time also holds for what is
 * kept already; `none` deletes it before this resolves. Texts that somebody reveals with a shared
 * receipt are the share's, and stay until it is taken back.
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
