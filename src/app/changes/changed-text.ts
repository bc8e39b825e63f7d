/** Makes the text of a configuration file with a change of a model or an upstream. */
import { rawAliases, withAliases } from '../../config/alias-text.ts'
import { rawModels, rawUpstreams, withModels, withUpstreamChange } from '../../config/model-text.ts'
import { refuse, refuseField } from '../../kernel/refusal.ts'
import type { TomlTable, TomlValue } from '../../models/price-files/price-entry.ts'
import type {
  ModelChangeWish,
  UpstreamChangeWish,
  WrittenModel,
  WrittenUpstream,
} from './changes-port.ts'
import { priceChange, writtenPrices } from './price-change.ts'

const statuses = ['live', 'disabled', 'deprecated'] as const

export function writtenModel(text: string, id: string): WrittenModel | undefined {
  const entry = rawModels(text).find((one) => one.id === id)
  if (!entry) return undefined
  const aliases = Object.entries(rawAliases(text)).flatMap(([name, of]) =>
    of === id ? [name] : [],
  )
  return {
    status: statuses.find((one) => one === entry['status']) ?? 'live',
    aliases,
    steps: stepsOf(entry['route']).map((step) => {
      const { to, weight } = typeof step === 'string' ? { to: step, weight: undefined } : step
      return { to: String(to), weight: weight === undefined ? null : Number(weight) }
    }),
    prices: writtenPrices(entry),
  }
}

export function writtenUpstream(text: string, id: string): WrittenUpstream | undefined {
  const entry = rawUpstreams(text).find((one) => one['id'] === id)
  if (!entry) return undefined
  const place = entry['api_key_env'] ?? entry['api_key_file']
  return {
    status: entry['status'] === 'disabled' ? 'disabled' : 'live',
    baseUrl: String(entry['base_url']),
    keyPlace: entry['keys'] !== undefined || place === undefined ? null : String(place),
  }
}

/** @throws Refusal 'not_found', 'invalid_request'; undefined if a person has to do it */
export function withModelWish(text: string, wish: ModelChangeWish): string | undefined {
  const { id, status, aliases, weights, prices } = wish
  const entry = rawModels(text).find((one) => one.id === id) ?? refuse('not_found')
  const route = stepsOf(entry['route'])
  if (weights.length !== route.length) {
    refuse('conflict', 'The route of this model changed since. Open its page again.')
  }
  const weighed = route.map((step, at) => withWeight(step, weights[at] ?? null))
  const isChanged = weighed.some((step, at) => step !== route[at])
  const before = entry['status'] ?? 'live'
  const priced = priceChange(entry, prices)
  const change = {
    id,
    set: {
      ...(status === before || status === 'live' ? {} : { status }),
      ...(isChanged ? { route: weighed } : {}),
      ...priced.set,
    },
    remove: [
      ...(status === 'live' && entry['status'] !== undefined && before !== 'live'
        ? ['status']
        : []),
      ...priced.remove,
    ],
  }
  const changed = withModels(text, [change], [])
  if (changed === undefined) return undefined
  const others = Object.entries(rawAliases(text)).filter(([, of]) => of !== id)
  const taken = aliases.find((name) => others.some(([other]) => other === name))
  if (taken !== undefined) refuseField('aliases', `"${taken}" is an alias of another model.`)
  const own = Object.fromEntries([...others, ...aliases.map((name) => [name, id] as const)])
  return withAliases(changed, own)
}

/** `keyFile`: where a new key is kept. */
export function withUpstreamWish(
  text: string,
  { id, status }: Omit<UpstreamChangeWish, 'key'>,
  keyFile: string | undefined,
): string | undefined {
  const entry = rawUpstreams(text).find((one) => one['id'] === id) ?? refuse('not_found')
  if (keyFile !== undefined && entry['keys'] !== undefined) {
    refuseField('key', 'It has several keys: replace the files that they are in.')
  }
  const isDisabled = entry['status'] === 'disabled'
  const set = {
    ...(status === 'disabled' && !isDisabled ? { status } : {}),
    ...(keyFile === undefined ? {} : { api_key_file: keyFile }),
  }
  const remove = [
    ...(status === 'live' && isDisabled ? ['status'] : []),
    ...(keyFile !== undefined && entry['api_key_env'] !== undefined ? ['api_key_env'] : []),
  ]
  return withUpstreamChange(text, { id, set, remove })
}

const stepsOf = (route: TomlValue | undefined): (string | TomlTable)[] =>
  Array.isArray(route) ? (route as (string | TomlTable)[]) : []

/** Sets the weight of a step; returns the very step if it has that weight already. */
function withWeight(step: string | TomlTable, weight: number | null): string | TomlTable {
  const { weight: old, ...rest } = typeof step === 'string' ? { to: step, weight: undefined } : step
  if ((old === undefined ? null : Number(old)) === weight) return step
  const { to = '', ...more } = rest as TomlTable
  if (weight !== null) return { to, weight: BigInt(weight), ...more }
  return Object.keys(more).length === 0 ? (to as string) : { to, ...more }
}
