/** Makes the pool of an upstream's keys; their state outlives a reload of the configuration. */
import { sha256Hex } from '../../kernel/hash.ts'
import { KeyPool, type KeyPoolDeps, KeyState, type WeightedKey } from './key-pool.ts'
import { headersFor, type ModelServer } from './server-address.ts'
import { wireProtocols } from './wire-protocol.ts'

/** States by the hash of a key and its upstream. */
export type KeyStates = Map<string, KeyState>

/** The id of a key in the states. */
const keyId = (owner: string, key: string): string => sha256Hex(`${owner}\n${key}`)

/** The ids of the keys of an upstream; its states of other keys are of no use. */
export const keyIds = (owner: string, keys: readonly Pick<WeightedKey, 'key'>[]): string[] =>
  keys.map(({ key }) => keyId(owner, key))

type Owner = Pick<ModelServer, 'id' | 'kind' | 'auth' | 'headers'>

/** The pool of several keys; undefined for one, which has nothing to take its place. */
export function openKeyPool(
  owner: Owner,
  keys: readonly WeightedKey[],
  { states, ...deps }: KeyPoolDeps & { states: KeyStates },
): KeyPool | undefined {
  if (keys.length < 2) return undefined
  const protocol = wireProtocols[owner.kind ?? 'openai']
  const pooled = keys.map(({ name, key, weight }) => {
    const id = keyId(owner.id, key)
    const state = states.get(id) ?? new KeyState(deps.clock)
    states.set(id, state)
    const headers = headersFor(protocol, { ...owner, apiKey: key })
    return { id, name, weight, secret: key, headers, state }
  })
  return new KeyPool(pooled, deps)
}
