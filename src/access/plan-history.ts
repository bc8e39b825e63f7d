/** How far back lists of runs and receipts go. Older ones are still found by id. */
import type { Deps } from '../app/deps-port.ts'
import type { Millis } from '../kernel/clock.ts'
import { firstIdAt, type Ids } from '../kernel/ids.ts'
import type { Plan } from './plan.ts'

const dayMs = 86_400_000

export const listedSince = ({ limits }: Plan, now: Millis): Millis =>
  Math.max(0, now - limits.historyDays * dayMs)

/** The smallest id that a listed run can have. */
export const firstListedRun = ({ mark }: Pick<Ids, 'mark'>, plan: Plan, now: Millis): string =>
  firstIdAt('run', listedSince(plan, now), mark)

/** {@link listedSince} for an account whose plan is not loaded yet. */
export async function accountListedSince(
  { accounts, clock, plans }: Pick<Deps, 'accounts' | 'clock' | 'plans'>,
  id: string,
): Promise<Millis> {
  const account = await accounts.find(id)
  if (!account) throw new Error('a session without an account')
  const now = clock.now()
  return listedSince(plans.of(account, now), now)
}
