import type { Deps } from '../app/deps-port.ts'
import type { Millis } from '../kernel/clock.ts'
import { firstIdAt } from '../kernel/ids.ts'
import type { Plan } from './plan.ts'

/** How far back lists of runs and receipts go; what is older is still found by its id. */

const dayMs = 86_400_000

export const listedSince = ({ limits }: Plan, now: Millis): Millis =>
  Math.max(0, now - limits.historyDays * dayMs)

/** What no run that a plan lists has an id before. */
export const firstListedRun = (plan: Plan, now: Millis): string =>
  firstIdAt('run', listedSince(plan, now))

/** The same for somebody who is signed in, whose plan is not known yet. */
export async function accountListedSince(
  { accounts, clock, plans }: Pick<Deps, 'accounts' | 'clock' | 'plans'>,
  id: string,
): Promise<Millis> {
  const account = await accounts.find(id)
  if (!account) throw new Error('a session without an account')
  const now = clock.now()
  return listedSince(plans.of(account, now), now)
}
