/** Reads and changes the prices that an entry of a model has in the configuration file. */
import { exactEntry, readableOf, toDollars } from '../../config/money-values.ts'
import { max } from '../../kernel/money.ts'
import { belowCost } from '../../models/below-cost.ts'
import { builtinUpstreamId } from '../../models/builtins.ts'
import type { Meter } from '../../models/meter.ts'
import type { Model } from '../../models/model.ts'
import { rateSections } from '../../models/pages/shown-rates.ts'
import type { ModelEntry, TomlTable, TomlValue } from '../../models/price-files/price-entry.ts'
import { costFields, isPriceField, type PriceField } from '../../models/rate-fields.ts'
import type { ModelChangeWish, PriceMargin, WrittenPrice } from './changes-port.ts'

/** The prices of a model in the order of the configuration; those it needs come though absent. */
export function writtenPrices(entry: ModelEntry): WrittenPrice[] {
  const exact = exactEntry(entry)
  const costs = costsOf(exact)
  const needed: readonly PriceField[] =
    exact['kind'] === 'chat' ? ['input_pusd', 'output_pusd'] : ['input_pusd']
  return Object.keys(costFields).flatMap((field) => {
    if (!isPriceField(field)) return []
    const [value, cost, isNeeded] = [exact[field], costs.get(field), needed.includes(field)]
    if (value === undefined && cost === undefined && !isNeeded) return []
    return [{ field, value: typeof value === 'bigint' ? value : undefined, cost, isNeeded }]
  })
}

/** The dearest cost of each unit among the steps that have one and sell at the model's prices. */
function costsOf({ route }: TomlTable): Map<PriceField, bigint> {
  const costs = new Map<PriceField, bigint>()
  for (const step of Array.isArray(route) ? route : []) {
    const cost = typeof step === 'object' && !Array.isArray(step) ? step['cost'] : undefined
    if (typeof cost !== 'object' || Array.isArray(cost) || sellsApart(step as TomlTable)) continue
    for (const [field, value] of Object.entries(cost)) {
      if (!isPriceField(field) || typeof value !== 'bigint') continue
      costs.set(field, max(costs.get(field) ?? 0n, value))
    }
  }
  return costs
}

/** Whether a step has prices of its own, which those of the model do not touch. */
const sellsApart = (step: TomlTable): boolean =>
  Object.entries(step).some(
    ([name, value]) =>
      (isPriceField(name) || name === 'bands' || name === 'tiers') && !isNone(value),
  )

/** An empty list names no price. */
const isNone = (value: TomlValue): boolean => Array.isArray(value) && value.length === 0

/** The change of an entry that gives it the wished prices, each in the form that the file has. */
export function priceChange(entry: ModelEntry, wished: ModelChangeWish['prices']) {
  const exact = exactEntry(entry)
  const set: Record<string, TomlValue> = {}
  const remove: string[] = []
  for (const [field, text] of Object.entries(wished)) {
    if (!isPriceField(field) || text === undefined) continue
    const value = text === null ? undefined : BigInt(text)
    if (exact[field] === value) continue
    const readable = readableOf(field)
    const isExact = entry[field] !== undefined || readable === undefined
    const name = isExact ? field : readable.name
    if (value === undefined) remove.push(name)
    else set[name] = isExact ? value : toDollars(value, readable.unit)
  }
  return { set, remove }
}

/** The rates of a model after a change, where any of them changes. */
export function marginsOf(before: Model | undefined, after: Model | undefined): PriceMargin[] {
  if (!before || !after) return []
  const [old, fresh] = [ratesOf(before), ratesOf(after)]
  const isSame =
    old.size === fresh.size && [...fresh].every(([meter, pusd]) => old.get(meter) === pusd)
  if (isSame) return []
  const costs = after.route.flatMap(({ cost, prices }) =>
    cost && !prices ? [ratesOf({ prices: cost, kind: after.kind })] : [],
  )
  return [...fresh].map(([meter, pusd]) => {
    const known = costs.flatMap((one) => one.get(meter) ?? [])
    const cost = known.length === 0 ? undefined : known.reduce(max)
    return { meter, before: old.get(meter), after: pusd, cost }
  })
}

/** The meter of a price that falls where a step sells at it whose cost is not known. */
export function guessedCut(before: Model | undefined, after: Model | undefined): Meter | undefined {
  if (!before || !after) return undefined
  const isUnknown = after.route.some(
    ({ upstream, cost, prices }) => !cost && !prices && upstream !== builtinUpstreamId,
  )
  if (!isUnknown) return undefined
  // A price has fallen where it is below the one before, of any tier and band, as below a cost.
  const route = [{ upstream: '', model: '', cost: before.prices }]
  const { hours: _, varied: __, ...usual } = after
  return belowCost([{ ...usual, status: 'live', route }])[0]?.meter
}

const ratesOf = (model: Pick<Model, 'prices' | 'kind'>): Map<Meter, bigint> =>
  new Map(rateSections(model)[0]?.rates.map(({ meter, pusd }) => [meter, pusd]))
