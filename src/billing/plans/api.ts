/** GET /v1/plans: every plan, and the plan of the account of the key. */
import { Elysia } from 'elysia'
import { keyAuth } from '../../access/keys/needs-key.ts'
import type { Deps } from '../../app/deps-port.ts'
import { readAccountPlan } from './account-plan.ts'
import { toPlansView } from './plan-view.ts'

export const plansApi = (deps: Deps) =>
  new Elysia({ name: 'plans-api' })
    .use(keyAuth(deps))
    .get(
      '/v1/plans',
      async ({ caller }) => toPlansView(deps.plans, await readAccountPlan(deps, caller.account)),
      { needsKey: 'any' },
    )
