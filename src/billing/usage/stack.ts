/** Splits the spending of each day by the groups of a report, for its chart. */
import type { Deps } from '../../app/deps-port.ts'
import type { Millis } from '../../kernel/clock.ts'
import type { Nusd } from '../../kernel/money.ts'
import { Refusal } from '../../kernel/refusal.ts'
import { type Grouping, type UsageRequest, type UsageRow, usageOf } from './sum.ts'

/** Groups with a colour of their own; the others are one. */
export const namedMax = 5

export type Stack = {
  by: Exclude<Grouping, 'day'>
  /** The costliest first; the last one sums all others, if there are any. */
  layers: { group: UsageRow | 'other'; cost: Nusd }[]
  /** The cost of each layer on a day, in the order of `layers`. */
  days: ReadonlyMap<Millis, readonly Nusd[]>
  keyNames: ReadonlyMap<string, string>
}

/** By the first group that is not the day; undefined without one, and where there are too many. */
export async function readStack(
  deps: Pick<Deps, 'usage'>,
  wish: UsageRequest,
): Promise<Stack | undefined> {
  const by = wish.groupBy.find((one) => one !== 'day')
  if (!by) return undefined
  try {
    const { rows } = await usageOf(deps, { ...wish, groupBy: ['day', by] })
    return await stackOf(deps, { account: wish.account, by, rows })
  } catch (error) {
    // The table says what is wrong with it.
    if (error instanceof Refusal) return undefined
    throw error
  }
}

type StackInput = { account: string; by: Stack['by']; rows: readonly UsageRow[] }

async function stackOf(
  { usage }: Pick<Deps, 'usage'>,
  { account, by, rows }: StackInput,
): Promise<Stack | undefined> {
  const totals = new Map<string, { group: UsageRow; cost: Nusd }>()
  for (const row of rows) {
    const known = totals.get(nameOf(by, row))
    if (known) known.cost += row.cost
    else totals.set(nameOf(by, row), { group: row, cost: row.cost })
  }
  const ranked = [...totals].sort(([, a], [, b]) => Number(b.cost - a.cost))
  const named = ranked.slice(0, namedMax)
  const others = ranked.slice(namedMax)
  const place = new Map(named.map(([name], i) => [name, i]))
  const size = named.length + (others.length > 0 ? 1 : 0)
  if (size === 0) return undefined
  const days = new Map<Millis, Nusd[]>()
  for (const row of rows) {
    const costs = days.get(row.day ?? 0) ?? Array.from({ length: size }, () => 0n)
    const at = place.get(nameOf(by, row)) ?? named.length
    costs[at] = (costs[at] ?? 0n) + row.cost
    days.set(row.day ?? 0, costs)
  }
  const rest = others.reduce((sum, [, { cost }]) => sum + cost, 0n)
  const layers: Stack['layers'] = named.map(([, layer]) => layer)
  if (others.length > 0) layers.push({ group: 'other', cost: rest })
  const keyIds = named.flatMap(([, { group }]) => group.keyId ?? [])
  return { by, layers, days, keyNames: await usage.keyNames(account, keyIds) }
}

const nameOf = (by: Stack['by'], { keyId, model, tag }: UsageRow): string =>
  by === 'tag' ? JSON.stringify(tag) : ((by === 'key' ? keyId : model) ?? '')
