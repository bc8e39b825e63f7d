/** Writes models as Anthropic's `GET /v1/models` does. */
import type { JsonObject } from '../kernel/json-object.ts'
import type { Catalogue } from './catalogue.ts'
import type { Model } from './model.ts'
import { dearestPrices } from './step-prices.ts'

/**
 * The models of a chat, and the names that stand for one of them: clients that show only names they
 * know, such as those that begin with `claude`, find them here.
 */
export function modelsForAnthropic({ list, aliases, named }: Catalogue): JsonObject {
  const names = Object.keys(aliases).filter((name) => !name.includes('*'))
  const data = [...list().map(({ id }) => id), ...names].flatMap((id) => {
    const model = named(id)
    return model?.kind === 'chat' && model.status !== 'disabled' ? [toModelInfo(model, id)] : []
  })
  const ids = { first_id: data[0]?.['id'] ?? null, last_id: data.at(-1)?.['id'] ?? null }
  return { data, has_more: false, ...ids }
}

/** A model under one of its names. When it was made is not known here. */
export function toModelInfo(model: Model, id: string): JsonObject {
  const { name, status, contextTokens, maxOutputTokens } = model
  return {
    type: 'model',
    id,
    display_name: name,
    created_at: '1970-01-01T00:00:00Z',
    max_input_tokens: contextTokens,
    max_tokens: maxOutputTokens,
    lifecycle: status === 'deprecated' ? 'deprecated' : 'active',
    deprecated_at: null,
    retires_at: null,
    line: null,
    capabilities: capabilitiesOf(model),
  }
}

/** Lists what a model takes, with features that only its server knows and may refuse. */
function capabilitiesOf(model: Model): JsonObject {
  const { features, imageTokensMax, pageTokensMax } = model
  const { card } = dearestPrices(model)
  const can = (supported: boolean) => ({ supported })
  const reasons = features.includes('reasoning') || card?.classes.reasoning !== undefined
  const searches = card?.classes.web_search !== undefined
  return {
    batch: can(false),
    citations: can(true),
    code_execution: can(false),
    context_management: {
      ...can(true),
      clear_thinking_20251015: can(true),
      clear_tool_uses_20250919: can(true),
      compact_20260112: null,
    },
    effort: {
      ...can(reasons),
      low: can(reasons),
      medium: can(reasons),
      high: can(reasons),
      xhigh: can(reasons),
      max: can(reasons),
    },
    image_input: can(imageTokensMax !== undefined),
    pdf_input: can(pageTokensMax !== undefined),
    server_tools: { ...can(searches), code_execution: can(false), web_search: can(searches) },
    structured_outputs: can(true),
    thinking: {
      ...can(reasons),
      types: {
        adaptive: can(reasons),
        between_tools: can(reasons),
        disabled: can(true),
        enabled: can(reasons),
      },
    },
  }
}
