/** The models that run in this process. */
import { defaultBytesPerToken } from './count.ts'
import type { Model } from './model.ts'

/** The upstream that runs the built-in models: this process, no network. */
export const builtinUpstreamId = 'builtin'

/** Words that `counterfoil/echo-1` says at most in one answer. */
export const echoMaxOutputTokens = 4096

const common = {
  ownedBy: 'counterfoil',
  contextTokens: 131_072,
  prices: { inputPusd: 0n, outputPusd: 0n, requestNusd: 0n },
  // They are deterministic: a verifier runs them again and compares.
  verifiable: 're-executable',
  status: 'live',
  terminal: true,
  overhead: { perMessage: 0, fixed: 0 },
  bytesPerToken: defaultBytesPerToken,
} as const

/** Says the last user message back, word by word. */
export const echoModel: Model = {
  ...common,
  id: 'counterfoil/echo-1',
  name: 'Echo 1',
  kind: 'chat',
  maxOutputTokens: echoMaxOutputTokens,
  features: ['streaming'],
  route: [{ upstream: builtinUpstreamId, model: 'counterfoil/echo-1' }],
}

/** Turns a text into 256 numbers by its words; texts that share words point the same way. */
export const embedModel: Model = {
  ...common,
  id: 'counterfoil/embed-1',
  name: 'Embed 1',
  kind: 'embedding',
  maxOutputTokens: 0,
  features: [],
  route: [{ upstream: builtinUpstreamId, model: 'counterfoil/embed-1' }],
  terminal: false,
}

export const builtinModels: readonly Model[] = [echoModel, embedModel]
