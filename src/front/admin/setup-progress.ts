/** How far an operator is from an empty service to a verified receipt: read from what exists. */
import type { Deps } from '../../app/deps-port.ts'
import { builtinModels } from '../../models/builtins.ts'
import { type Onboarding, readOnboarding } from '../overview/onboarding.ts'
import type { Finding } from './findings.ts'

export type SetupProgress = {
  /** Ids of upstreams beside the built-in one. */
  providers: readonly string[]
  /** Ids of models beside the built-in ones. */
  models: readonly string[]
  /** Undefined once the operator has verified a receipt. */
  own: Onboarding | undefined
  /** Parts of the service that need the operator. */
  findings: readonly Finding[]
}

/** How many runs are looked at for the newest receipt. */
const recentRuns = 20

type Needs = Pick<Deps, 'accounts' | 'runs' | 'onboarding' | 'upstreams' | 'catalogue'>

export async function readSetup(
  deps: Needs,
  account: string,
  findings: readonly Finding[],
): Promise<SetupProgress> {
  const isBuiltin = new Set(builtinModels.map(({ id }) => id))
  const row = await deps.accounts.find(account)
  const newest = { limit: recentRuns, after: undefined }
  const { items } = await deps.runs.listShown({ account }, {}, newest)
  const blank = { hasCredit: false, hasKey: false, ended: undefined }
  return {
    providers: deps.upstreams.list().flatMap(({ id }) => (id === 'builtin' ? [] : [id])),
    models: deps.catalogue.list().flatMap(({ id }) => (isBuiltin.has(id) ? [] : [id])),
    own: row ? await readOnboarding(deps, row, items) : blank,
    findings: findings.filter(({ tone }) => tone === 'bad' || tone === 'warn'),
  }
}
