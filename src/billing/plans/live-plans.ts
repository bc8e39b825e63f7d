/** Holds the plans of a running service, which a reload replaces as a whole. */
import type { Plans } from '../../access/plan.ts'
import type { Millis } from '../../kernel/clock.ts'

/** Plans that can be exchanged as a whole while others hold them. */
export type LivePlans = Plans & { replace(next: Plans, now: Millis): void }

/** The plans of a running service: each question is answered by those of its moment. */
export function livePlans(first: Plans): LivePlans {
  let current = first
  let since: Millis = 0
  return {
    get since() {
      return since
    },
    get list() {
      return current.list
    },
    find: (id) => current.find(id),
    of: (account, now) => current.of(account, now),
    replace(next, now) {
      current = next
      since = now
    },
  }
}
