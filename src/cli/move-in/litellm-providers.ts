/** Finds our preset of a provider by LiteLLM's name of it. */
import { findProvider } from '../../models/providers/presets.ts'
import type { Provider } from '../../models/providers/provider.ts'

/** Its names that are not ours already. */
const renamed: ReadonlyMap<string, string> = new Map([
  ['gemini', 'google'],
  ['azure_ai', 'azure'],
  ['cohere_chat', 'cohere'],
  ['together_ai', 'together'],
  ['fireworks_ai', 'fireworks'],
  ['nvidia_nim', 'nvidia'],
  ['ollama_chat', 'ollama'],
  ['hosted_vllm', 'vllm'],
  ['lm_studio', 'lmstudio'],
  ['dashscope', 'alibaba'],
  ['vercel_ai_gateway', 'vercel'],
  ['litellm_proxy', 'openai'],
  ['openai_like', 'openai'],
  ['custom_openai', 'openai'],
  ['text-completion-openai', ''],
  ['bedrock', ''],
  ['vertex_ai', ''],
])

/** The provider of a model that names none, by how its name begins. */
const unnamed: readonly [RegExp, string][] = [
  [/^(gpt-|o\d|chatgpt-|text-embedding-|ft:gpt)/, 'openai'],
  [/^claude-/, 'anthropic'],
]

export type NamedModel = { provider: Provider; name: string }

/** The provider and its own name of a `model`; otherwise the provider that has no place here. */
export function providerOf(model: string, custom: string | undefined): NamedModel | string {
  const slash = model.indexOf('/')
  const prefix = slash === -1 ? undefined : model.slice(0, slash)
  const guessed = unnamed.find(([pattern]) => pattern.test(model))?.[1]
  const named = custom ?? prefix ?? guessed
  if (named === undefined) return `no provider in "${model}"`
  const provider = findProvider(renamed.get(named) ?? named)
  if (!provider) return `provider ${named}`
  return { provider, name: prefix === named ? model.slice(slash + 1) : model }
}

/** An `api_base` as the base URL of an upstream; undefined for that of the preset. */
export function baseUrlOf({ id, isLocal }: Provider, apiBase: string | undefined) {
  const base = apiBase?.trim().replace(/(?<!\/)\/+$/, '')
  if (!base) return undefined
  if (id === 'azure') return /\/openai\/v1$/.test(base) ? base : `${base}/openai/v1`
  const lacksVersion = (id === 'anthropic' || isLocal) && !/\/v\d+$/.test(base)
  return lacksVersion ? `${base}/v1` : base
}
