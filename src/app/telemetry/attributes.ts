/**
 * The attributes of a run and of its upstream requests, by OpenTelemetry's conventions for
 * generative AI. Each is a number, an id or a word of a closed list: never a text, an account or a
 * key.
 */
import type { Json } from '../../kernel/canonical.ts'
import { isObject } from '../../kernel/json-object.ts'
import type { ModelKind, Usage, UsageClass } from '../../models/meter.ts'
import type { RouteStep } from '../../models/model.ts'
import type { UpstreamFailure } from '../../models/upstream/upstream.ts'
import type { RunRow } from '../../storage/db/schema/schema.ts'

/** Whole numbers as `bigint`. */
export type Attributes = [name: string, value: string | bigint | boolean | readonly string[]][]

const operations: Record<ModelKind, string> = { chat: 'chat', embedding: 'embeddings' }

export const operationOf = (kind: ModelKind): string => operations[kind]

/** Token classes that the conventions name. They have one name for all cache writes. */
const namesOfClasses: Partial<Record<UsageClass, string>> = {
  cache_read: 'gen_ai.usage.cache_read.input_tokens',
  cache_write: 'gen_ai.usage.cache_creation.input_tokens',
  cache_write_1h: 'gen_ai.usage.cache_creation.input_tokens',
  reasoning: 'gen_ai.usage.reasoning.output_tokens',
}

/** Attributes of the run span only, so that a sum over all spans counts them once. */
export function runAttributes(
  operation: string,
  run: RunRow,
  used: { usage: Usage | undefined; output: Json | null } | undefined,
): Attributes {
  const [upstream = '', ...model] = run.route.split(':')
  const out: Attributes = [
    ['gen_ai.operation.name', operation],
    ['gen_ai.request.model', run.model],
    ['gen_ai.response.id', run.id],
    ['counterfoil.run.id', run.id],
    ['counterfoil.run.outcome', run.outcome ?? 'failed'],
    ['counterfoil.price_list', run.priceList],
  ]
  if (upstream !== '') {
    out.push(['gen_ai.provider.name', upstream], ['gen_ai.response.model', model.join(':')])
  }
  // A run whose end could not be stored has no cost yet.
  if (run.finishedAt !== null) out.push(['counterfoil.cost_nusd', run.cost])
  if (run.error) out.push(['error.type', run.error.type])
  const reasons = used ? finishReasonsOf(used.output) : []
  if (reasons.length > 0) out.push(['gen_ai.response.finish_reasons', reasons])
  if (used?.usage) {
    if (run.usageSource) out.push(['counterfoil.usage_source', run.usageSource])
    addUsage(out, used.usage)
  }
  return out
}

function addUsage(out: Attributes, { inputTokens, outputTokens, classes = {} }: Usage): void {
  out.push(['gen_ai.usage.input_tokens', BigInt(inputTokens)])
  out.push(['gen_ai.usage.output_tokens', BigInt(outputTokens)])
  const sums = new Map<string, number>()
  for (const [name, units = 0] of Object.entries(classes)) {
    const attribute = namesOfClasses[name as UsageClass] ?? `counterfoil.usage.${name}`
    sums.set(attribute, (sums.get(attribute) ?? 0) + units)
  }
  for (const [attribute, units] of sums) out.push([attribute, BigInt(units)])
}

/** A word that a protocol defines. Any other string could be user text. */
const word = /^[a-z][a-z_]{0,31}$/

/** The finish reason of each choice; of output items, each distinct reason once. */
function finishReasonsOf(output: Json | null): string[] {
  if (!Array.isArray(output)) return []
  const found: string[] = []
  for (const one of output) {
    if (!isObject(one)) continue
    const ofChoice = one['finish_reason'] ?? one['stop_reason']
    const reason = ofChoice ?? one['status']
    if (typeof reason !== 'string') continue
    const said = word.test(reason) ? reason : 'other'
    if (typeof ofChoice === 'string' || !found.includes(said)) found.push(said)
  }
  return found
}

export function attemptAttributes(
  operation: string,
  { upstream, model }: RouteStep,
  failure: UpstreamFailure | undefined,
  isFault: boolean,
): Attributes {
  const out: Attributes = [
    ['gen_ai.operation.name', operation],
    ['gen_ai.provider.name', upstream],
    ['gen_ai.request.model', model],
  ]
  if (isFault) out.push(['error.type', 'internal_error'])
  if (failure) out.push(['error.type', failure.reason])
  if (failure?.status !== undefined) {
    out.push(['http.response.status_code', BigInt(failure.status)])
  }
  return out
}
