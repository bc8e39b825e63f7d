/** The models as operators see them: prices, log entries, upstreams, losses. */
import type { Deps } from '../../app/deps-port.ts'
import { lossWords } from '../../billing/margins/losses.ts'
import { type Millis, toRfc3339 } from '../../kernel/clock.ts'
import { toModelView } from '../../models/catalogue.ts'
import type { Model, PriceList } from '../../models/model.ts'
import { wordsOf } from '../../models/protocols/dialect.ts'
import {
  type Contradictions,
  contradictions,
  type UnpricedUnits,
  unpricedUnits,
} from './unpriced.ts'
import { toUpstreamView, type UpstreamHealth, upstreamHealth } from './upstreams.ts'

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
  learned: readonly LearnedFact[]
  contradictions: readonly Contradictions[]
  /** Nodes whose configuration differs from that of this one. */
  otherConfigs: readonly string[]
}

/** A fact about a model server that its refusal taught. */
export type LearnedFact = { upstream: string; model: string; facts: string; at: Millis }

type Needs = Pick<
  Deps,
  'admin' | 'catalogue' | 'health' | 'logs' | 'meters' | 'plans' | 'settings' | 'upstreams'
>

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
    otherConfigs: [...deps.health.configs].flatMap(([node, digest]) =>
      digest === deps.settings.configDigest ? [] : [node],
    ),
    losses: lossWords(catalogue.list(), deps.plans.list),
    unpriced: unpricedUnits(deps),
    learned: learnedFacts(deps),
    contradictions: contradictions(deps),
  }
}

const learnedFacts = ({ upstreams }: Pick<Deps, 'upstreams'>): LearnedFact[] =>
  upstreams.list().flatMap(({ id, dialects }) =>
    (dialects?.list() ?? []).map(({ model, facts, at }) => ({
      upstream: id,
      model,
      facts: wordsOf(facts).join(', '),
      at,
    })),
  )

/** The same as JSON. */
export const toOperatedModels = (view: OperatedModels) => ({
  object: 'list' as const,
  data: view.models.map((model) => toModelView(model)),
  below_cost: view.losses,
  price_list: { ...view.prices, leaf: view.leaf ?? null },
  upstreams: view.upstreams.map(toUpstreamView),
  unpriced: view.unpriced,
  learned: view.learned.map(({ at, ...fact }) => ({ ...fact, learned_at: toRfc3339(at) })),
  contradictions: view.contradictions,
})
