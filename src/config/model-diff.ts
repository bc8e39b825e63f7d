/** Compares imported models with those of the configuration file. */
import type { ModelEntry, TomlTable, TomlValue } from '../models/price-files/price-entry.ts'
import { costFields } from '../models/rate-fields.ts'
import { type ModelChange, stable } from './model-text.ts'
import { exactEntry, readableOf, toDollars } from './money-values.ts'

export type ModelDiff = {
  added: ModelEntry[]
  changed: (ModelChange & { before: ModelEntry })[]
  unchanged: number
  /** Ids of models that are left as they are because they differ in more than prices, and why. */
  left: { id: string; why: string }[]
  /** Models whose configured context is below input and output together in the file. */
  short: { id: string; configured: bigint; total: bigint }[]
}

/** An import changes only the prices of an existing model; limits and names are the operator's. */
const managed = [...Object.keys(costFields), 'bands', 'tiers'] as const

export function diffModels(
  written: readonly ModelEntry[],
  wanted: readonly ModelEntry[],
  upstream: string | undefined,
): ModelDiff {
  const diff: ModelDiff = { added: [], changed: [], unchanged: 0, left: [], short: [] }
  const known = new Map(written.map((entry) => [entry.id, exactEntry(entry)]))
  const readable = new Map(written.map((entry) => [entry.id, entry]))
  for (const entry of wanted) {
    const before = known.get(entry.id)
    if (!before) {
      diff.added.push(entry)
      continue
    }
    const route = upstream === undefined ? before['route'] : routeOf(before, entry, upstream)
    const why = whyLeft(before, entry, route)
    if (why !== undefined) {
      diff.left.push({ id: entry.id, why })
      continue
    }
    const [configured, total] = [contextOf(before), contextOf(entry)]
    if (configured < total) diff.short.push({ id: entry.id, configured, total })
    const change = changeOf(before, entry, route)
    const own = readable.get(entry.id)
    if (change && own) diff.changed.push({ ...asWritten(change, own), before: own })
    else diff.unchanged++
  }
  return diff
}

/** Most tokens in and out together. */
function contextOf(entry: ModelEntry): bigint {
  const tokens = entry['total_tokens_max'] ?? entry['context_tokens']
  return typeof tokens === 'bigint' ? tokens : 0n
}

function whyLeft(before: ModelEntry, { kind }: ModelEntry, route: TomlValue | undefined) {
  if (before['kind'] !== undefined && before['kind'] !== kind) return `its kind is not ${kind}`
  if (before['hours'] !== undefined) return 'it has hours with prices of their own'
  if (before['route'] === undefined) return undefined
  if (route === undefined) return 'its route does not name this upstream'
  return sellsApart(before['route']) ? 'a step of its route has prices of its own' : undefined
}

/** The route with the new cost at the step of this upstream; undefined if there is no such step. */
function routeOf(before: ModelEntry, entry: ModelEntry, upstream: string): TomlValue | undefined {
  const route = Array.isArray(before['route']) ? (before['route'] as TomlValue[]) : []
  const at = route.findIndex((step) => nameOf(step).startsWith(`${upstream}:`))
  if (at === -1) return undefined
  const [wanted] = Array.isArray(entry['route']) ? (entry['route'] as TomlValue[]) : []
  // An import without a markup does not know the cost.
  if (wanted === undefined || typeof wanted === 'string') return route
  const own = route[at]
  const kept = typeof own === 'string' ? { to: own } : (own as TomlTable)
  return route.with(at, { ...kept, cost: (wanted as TomlTable)['cost'] ?? {} })
}

/** Whether any step sells at other prices than its model, which an import knows nothing about. */
const sellsApart = (route: TomlValue): boolean =>
  Array.isArray(route) &&
  (route as TomlValue[]).some(
    (step) => typeof step === 'object' && managed.some((name) => namesPrice(step, name)),
  )

/** An empty list of bands or tiers names no price. */
function namesPrice(step: TomlTable | readonly TomlValue[], name: string): boolean {
  const value = Object.hasOwn(step, name) ? (step as TomlTable)[name] : undefined
  return value !== undefined && !(Array.isArray(value) && value.length === 0)
}

const nameOf = (step: TomlValue | undefined): string =>
  typeof step === 'string' ? step : String((step as TomlTable | undefined)?.['to'] ?? '')

function changeOf(
  before: ModelEntry,
  entry: ModelEntry,
  route: TomlValue | undefined,
): ModelChange | undefined {
  const after: TomlTable = { ...entry, ...(route === undefined ? {} : { route }) }
  const set: Record<string, TomlValue> = {}
  const remove: string[] = []
  for (const name of [...managed, ...(route === undefined ? [] : ['route'])]) {
    const [old, fresh] = [before[name], after[name]]
    if (fresh === undefined && old !== undefined && !isZero(old)) remove.push(name)
    if (fresh !== undefined && stable(old) !== stable(fresh)) set[name] = fresh
  }
  const isSame = remove.length === 0 && Object.keys(set).length === 0
  return isSame ? undefined : { id: entry.id, set, remove }
}

/** A change in the names that an entry uses: dollars stay dollars. */
function asWritten({ id, set, remove }: ModelChange, own: ModelEntry): ModelChange {
  const named = (name: string): string => {
    const readable = readableOf(name)
    return readable && own[readable.name] !== undefined ? readable.name : name
  }
  const changes = Object.entries(set).map(([name, value]): [string, TomlValue] => {
    const unit = readableOf(name)?.unit
    if (named(name) === name || unit === undefined || typeof value !== 'bigint')
      return [name, value]
    return [named(name), toDollars(value, unit)]
  })
  return { id, set: Object.fromEntries(changes), remove: remove.map(named) }
}

/** `request_nusd = 0` says what its absence says. */
const isZero = (value: TomlValue): boolean => value === 0n
