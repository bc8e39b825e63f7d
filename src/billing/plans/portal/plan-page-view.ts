/** The view of the page of a plan. */
import type { Plans } from '../../../access/plan.ts'
import type { Refusal } from '../../../kernel/refusal.ts'
import type { AccountPlan } from '../account-plan.ts'
import type { Quote } from '../quote.ts'

export type PlanView = AccountPlan & {
  plans: Plans
  /** The requested plan, and its price. */
  quote?: Quote
  /** Whether the end of the present plan is asked about. */
  cancels: boolean
  refusal?: Refusal
}
