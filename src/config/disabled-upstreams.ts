/** Takes disabled upstreams out of the routes of models. */
import { isPricedApart, type ModelConfig, toStep, weightOf } from '../models/model-config.ts'
import type { UpstreamConfig } from './upstream-entries.ts'

/** A model that only disabled upstreams serve is disabled too: nothing else can answer for it. */
export function withoutDisabled(
  models: readonly ModelConfig[],
  upstreams: readonly Pick<UpstreamConfig, 'id' | 'status'>[],
): ModelConfig[] {
  const disabled = new Set(
    upstreams.flatMap(({ id, status }) => (status === 'disabled' ? [id] : [])),
  )
  if (disabled.size === 0) return [...models]
  return models.map((model) => {
    const { route } = model
    const left = route?.filter((step) => !disabled.has(toStep(step).upstream))
    if (!route || !left || left.length === route.length) return model
    return left.length === 0 ? { ...model, status: 'disabled' } : withSteps(model, left)
  })
}

/** Without what none of these steps uses: the model would be refused for it. */
function withSteps(model: ModelConfig, route: NonNullable<ModelConfig['route']>): ModelConfig {
  const { balance, hours, ...rest } = model
  const isWeighted = route.some((step) => weightOf(step) !== undefined)
  return {
    ...rest,
    route,
    ...(balance && isWeighted && { balance }),
    ...(hours && !isPricedApart(route) && { hours }),
  }
}
