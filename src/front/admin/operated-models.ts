/** The models as operators see them: prices, log entries, upstreams, losses. */
import type { Deps } from '../../app/deps-port.ts'
import { lossWords } from '../../billing/margins/losses.ts'
import type { Millis } from '../../kernel/clock.ts'
import { toModelView } from '../../models/catalogue.ts'
import type { Model, PriceList } from '../../models/model.ts'
import { type UnpricedUnits, unpricedUnits } from './unpriced.ts'
import { type UpstreamHealth, upstreamHealth } from './upstreams.ts'

export type OperatedModels = {
  models: readonly Model[]
  prices: PriceList
  /** Its leaf in the log; undefined before the first receipt. */
  leaf: number | undefined
  since: Millis | undefined
  upstreams: readonly UpstreamHealth[]
  /** Sentences about prices below cost. */
  losses: readonly string[]
  unpriced: readonly UnpricedUnits[]
}

type Needs = Pick<Deps, 'admin' | 'catalogue' | 'logs' | 'meters' | 'plans' | 'upstreams'>

export async function readOperatedModels(deps: Needs): Promise<OperatedModels> {
  const { admin, catalogue, logs } = deps
  const { priceList: prices } = catalogue
  const stored = await admin.priceList(prices)
  const place = stored?.logPlace ?? null
  return {
    models: catalogue.list(),
    prices,
    leaf: place === null ? undefined : place - logs.current.start,
    since: stored?.createdAt,
    upstreams: upstreamHealth(deps),
    losses: lossWords(catalogue.list(), deps.plans.list),
    unpriced: unpricedUnits(deps),
  }
}

/** The same as JSON. */
export const toOperatedModels = (view: OperatedModels) => ({
  object: 'list' as const,
  data: view.models.map((model) => toModelView(model)),
  below_cost: view.losses,
  price_list: { ...view.prices, leaf: view.leaf ?? null },
  upstreams: view.upstreams.map(({ reasons, load, ...rest }) => ({
    ...rest,
    reasons: Object.fromEntries(reasons),
    places: load ?? null,
  })),
  unpriced: view.unpriced,
})
