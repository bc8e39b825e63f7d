/** How long a server may think before the first byte of an answer. */
import { type ModelConfig, toStep } from './model-config.ts'

/** The first-byte timeouts where the configuration has none, in ms. */
const usualMs = 60_000
export const reasoningMs = 300_000

/** The models of a server that reason: they have the feature, or a rate for it. */
export const reasoningModelsOf = (
  upstream: string,
  models: readonly ModelConfig[],
): readonly ModelConfig[] =>
  models.filter(({ features, reasoning_pusd: rate, route = [] }) => {
    const isReasoning = rate !== undefined || features?.includes('reasoning') === true
    return isReasoning && route.some((step) => toStep(step).upstream === upstream)
  })

/** The default of `timeout_first_byte_ms` for a server. */
export const firstByteMsOf = (upstream: string, models: readonly ModelConfig[]): number =>
  reasoningModelsOf(upstream, models).length > 0 ? reasoningMs : usualMs
