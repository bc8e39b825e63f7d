import { accountTargets } from './account-targets.ts'
import { bodyTargets } from './body-targets.ts'
import { chainTargets } from './chain-targets.ts'
import { doorTargets } from './door-targets.ts'
import { httpTargets } from './http-targets.ts'
import { operatorTargets } from './operator-targets.ts'
import type { Target } from './run.ts'
import { upstreamTargets } from './upstream-targets.ts'
import { verifyTargets } from './verify-targets.ts'

/** Every reader of what comes from outside, by where it comes from. */
export const families: Readonly<Record<string, readonly Target[]>> = {
  HTTP: httpTargets,
  people: accountTargets,
  requests: bodyTargets,
  doors: doorTargets,
  receipts: verifyTargets,
  chain: chainTargets,
  upstreams: upstreamTargets,
  operators: operatorTargets,
}
