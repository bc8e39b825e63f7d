/** What the page of a plan shows. */
import type { Plans } from '../../../access/plan.ts'
import type { Refusal } from '../../../kernel/refusal.ts'
import type { AccountPlan } from '../account-plan.ts'
import type { Quote } from '../quote.ts'

export type PlanView = AccountPlan & {
  plans: Plans
  /** What was asked for, and what it costs. */
  quote?: Quote
  /** Whether the end of the present plan is asked about. */
  cancels: boolean
  refusal?: Refusal
}
