/** Takes disabled upstreams out of the routes of models. */
import { type ModelConfig, toStep } from '../models/model-config.ts'
import type { UpstreamConfig } from './upstream-entries.ts'

/** A model that only disabled upstreams serve is disabled too: nothing else can answer for it. */
export function withoutDisabled(
  models: readonly ModelConfig[],
  upstreams: readonly UpstreamConfig[],
): ModelConfig[] {
  const disabled = new Set(
    upstreams.flatMap(({ id, status }) => (status === 'disabled' ? [id] : [])),
  )
  if (disabled.size === 0) return [...models]
  return models.map((model) => {
    const { route } = model
    const left = route?.filter((step) => !disabled.has(toStep(step).upstream))
    if (!route || !left || left.length === route.length) return model
    return left.length === 0 ? { ...model, status: 'disabled' } : { ...model, route: left }
  })
}
