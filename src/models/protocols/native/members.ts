/**
 * The members of a request that goes on as it came. Unknown ones go on; those that would change the
 * bill or the promise are refused or stay behind, by name.
 */
import type { Json } from '../../../kernel/canonical.ts'
import { isObject, isSet, type JsonObject } from '../../../kernel/json-object.ts'
import { refuseField } from '../../../kernel/refusal.ts'
import type { Protocol } from '../protocol.ts'

/** Members that say how the answer travels, or are answered here. */
const ours: ReadonlySet<string> = new Set(['model', 'stream', 'fit', 'store', 'tags'])

/** Every name of an answer's limit and of several answers: a server could heed more than one. */
const limits = [
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'max_new_tokens',
  'best_of',
]

/**
 * Members that proxies between here and the model read: another model, another address, another
 * key, more headers. They would send the operator's request elsewhere.
 */
const steering = [
  'models',
  'fallback_models',
  'provider',
  'route',
  'preset',
  'plugins',
  'api_base',
  'base_url',
  'api_key',
  'extra_headers',
  'extra_body',
  'custom_llm_provider',
  // Headers of betas are looked through; in the body they would not be.
  'anthropic_beta',
  'betas',
  // It would become the prototype of what goes on.
  '__proto__',
]

/** Members that stay behind and are named, unless the operator lets them pass. */
const withheld: ReadonlySet<string> = new Set([...limits, ...steering])

/** The values with which a member asks for nothing that bills otherwise; any other is refused. */
const harmless: ReadonlyMap<string, (value: Json) => boolean> = new Map([
  ['container', () => false],
  ['mcp_servers', (value: Json) => Array.isArray(value) && value.length === 0],
  ['speed', (value: Json) => value === 'standard'],
  ['inference_geo', (value: Json) => value === 'global'],
  ['billing_policy', () => false],
  ['fallbacks', (value: Json) => Array.isArray(value) && value.length === 0],
  ['fallback_credit_token', () => false],
  ['background', (value: Json) => value === false],
  ['n', (value: Json) => value === 1],
  ['audio', () => false],
  ['modalities', (value: Json) => Array.isArray(value) && value.every((one) => one === 'text')],
  ['web_search_options', () => false],
  ['search_parameters', (value: Json) => isObject(value) && value['mode'] === 'off'],
])

const words: ReadonlyMap<string, string> = new Map([
  ['speed', 'Only the standard speed has a price here. Leave "speed" out.'],
  ['background', 'Use POST /v1/runs with "background": true, or leave it out.'],
  ['n', 'Send "n" as 1, or leave it out: this protocol has one answer.'],
  ['inference_geo', 'Only inference anywhere has a price here. Leave "inference_geo" out.'],
])

/** @throws Refusal `invalid_request` for a member that would bill what has no rate here */
export function refuseUnpriced(body: JsonObject): void {
  for (const [name, isHarmless] of harmless) {
    const value = body[name]
    if (!isSet(value) || isHarmless(value)) continue
    refuseField(name, words.get(name) ?? `"${name}" is not served here. Leave it out.`)
  }
}

/** The members that go on, without the limit of the answer; what stays behind is noted. */
export function membersOf(
  { body, protocol, pass }: { body: JsonObject; protocol: Protocol; pass: readonly string[] },
  ignored: string[],
): JsonObject {
  const members: JsonObject = {}
  const limit = protocol === 'messages' ? 'max_tokens' : 'max_output_tokens'
  for (const name in body) {
    const value = body[name]
    if (!isSet(value) || name === limit || ours.has(name)) continue
    // They become tags, and nothing else that a server keeps.
    if (name === 'metadata' && protocol === 'responses') continue
    if (!withheld.has(name) || pass.includes(name)) members[name] = value
    else if (value !== false) ignored.push(name)
  }
  return members
}
