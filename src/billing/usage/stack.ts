/** Splits the bars of a chart by the groups of a report. */
import type { Deps } from '../../app/deps-port.ts'
import { Refusal } from '../../kernel/refusal.ts'
import { type Steps, stepAt } from './chart-steps.ts'
import { classesOf, type SummedMetric, sizeOf, tokenClasses } from './metric.ts'
import { type Grouping, type UsageRequest, type UsageRow, usageOf } from './sum.ts'

/** Groups with a colour of their own; the others are one. */
export const namedMax = 5

export type StackBy = Exclude<Grouping, 'day'> | 'class'

/** A group, all others, or a class of tokens. */
export type LayerGroup = UsageRow | 'other' | (typeof tokenClasses)[number]

/** One value a step, and their sum. */
export type Layer = { group: LayerGroup; values: readonly number[]; total: number }

export type Stack = {
  by: StackBy
  /** The largest first; the last one sums all others, if there are any. */
  layers: readonly Layer[]
  /** The values of each group by its name, also of those without a colour. */
  trends: ReadonlyMap<string, readonly number[]>
  keyNames: ReadonlyMap<string, string>
}

type StackRequest = Omit<UsageRequest, 'groupBy'> & {
  by: Exclude<StackBy, 'class'>
  metric: SummedMetric
  steps: Steps
}

/** Undefined where there are too many groups, or too many receipts to tell their tags. */
export async function readStack(
  deps: Pick<Deps, 'usage'>,
  { by, metric, ...wish }: StackRequest,
): Promise<Stack | undefined> {
  try {
    const { rows } = await usageOf(deps, { ...wish, groupBy: ['day', by] })
    const layers = layersOf(rows, { by, metric, steps: wish.steps })
    if (layers.length === 0) return undefined
    const named = layers.slice(0, namedMax)
    const rest = othersOf(layers.slice(namedMax))
    const keyIds = named.flatMap(({ group }) => (typeof group === 'object' && group.keyId) || [])
    return {
      by,
      layers: rest ? [...named, rest] : named,
      trends: new Map(layers.map((one) => [groupName(by, one.group), one.values])),
      keyNames: await deps.usage.keyNames(wish.account, keyIds),
    }
  } catch (error) {
    // The table says what is wrong with it.
    if (error instanceof Refusal) return undefined
    throw error
  }
}

/** Tokens by their class, from the rows of the steps. */
export function classStack(rows: readonly UsageRow[], steps: Steps): Stack {
  const layers = tokenClasses.map((group, i) => {
    const values = valuesOf(rows, steps, (row) => classesOf(row)[i] ?? 0)
    return { group, values, total: sumOf(values) }
  })
  return { by: 'class', layers, trends: new Map(), keyNames: new Map() }
}

/** A value for each step, of the rows that begin there. */
export function valuesOf(
  rows: readonly UsageRow[],
  steps: Steps,
  valueIn: (row: UsageRow) => number,
): number[] {
  const values = steps.starts.map(() => 0)
  for (const row of rows) {
    const i = stepAt(steps, row.day ?? 0)
    if (i >= 0) values[i] = (values[i] ?? 0) + valueIn(row)
  }
  return values
}

type LayersOf = Pick<StackRequest, 'by' | 'metric' | 'steps'>

function layersOf(rows: readonly UsageRow[], { by, metric, steps }: LayersOf): Layer[] {
  const groups = new Map<string, UsageRow[]>()
  for (const row of rows) {
    const name = groupName(by, row)
    const known = groups.get(name)
    if (known) known.push(row)
    else groups.set(name, [row])
  }
  return [...groups.values()]
    .flatMap((ofGroup) => {
      const values = valuesOf(ofGroup, steps, (row) => sizeOf(metric, row))
      return ofGroup[0] ? [{ group: ofGroup[0], values, total: sumOf(values) }] : []
    })
    .sort((a, b) => b.total - a.total)
}

function othersOf(others: readonly Layer[]): Layer | undefined {
  const [first] = others
  if (!first) return undefined
  const values = first.values.map((_, i) => sumOf(others.map((one) => one.values[i] ?? 0)))
  return { group: 'other', values, total: sumOf(values) }
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)

/** Names a group among those of one grouping. */
export function groupName(by: StackBy, group: LayerGroup): string {
  if (typeof group === 'string') return group
  if (by === 'tag') return JSON.stringify(group.tag)
  if (by === 'provider') return group.provider ?? ''
  return (by === 'key' ? group.keyId : group.model) ?? ''
}
