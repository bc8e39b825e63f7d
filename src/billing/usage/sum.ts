/** Sums usage by day, key, model and tag. */
import type { Deps } from '../../app/deps-port.ts'
import type { Millis } from '../../kernel/clock.ts'
import { maxNusd } from '../../kernel/money.ts'
import { refuse, refuseField } from '../../kernel/refusal.ts'
import { type Steps, stepAt } from './chart-steps.ts'
import { addWait, barOf, type Waits } from './first-tokens.ts'
import { isIn, lengthOf, type Period, type Span, spansOf, walk } from './log-range.ts'
import { piecesOf } from './pieces.ts'
import {
  addSums,
  type CountedRun,
  dayMs,
  dayOf,
  noSums,
  providerOf,
  type Sums,
  sumsOf,
  type UsageOwner,
} from './usage.ts'

export const dimensions = ['day', 'key', 'model', 'tag'] as const
export type Dimension = (typeof dimensions)[number]

/** Pages group by providers too; `/v1/usage` does not. */
export type Grouping = Dimension | 'provider'

export type UsageRequest = UsageOwner &
  Period & {
    groupBy: readonly Grouping[]
    /** The days of the period, or what stands for them: absent for the days of UTC. */
    steps?: Steps | undefined
    /** Whether the waits for first tokens are told. */
    waits?: boolean | undefined
  }

/** A tag of a run; a run with two tags is in two groups, one without any in the group `null`. */
export type Tag = { name: string; value: string }

/** The sums of one group: it has the members it is grouped by. */
export type UsageRow = Sums & {
  /** The beginning of its day, or of its step. */
  day?: Millis
  keyId?: string
  model?: string
  provider?: string
  tag?: Tag | null
  /** Empty unless asked for. */
  waits: Waits
}

export type Usage = Period & {
  groupBy: readonly Grouping[]
  /** In the order of day, key, model, tag. */
  rows: UsageRow[]
  /** Every run once, also when it is in several rows. */
  totals: Sums
  waits: Waits
  /** The part of the log that is counted: every receipt with a place below it. */
  asOf: number
  /** Leaves of the log beyond it, because the count lags far behind; 0 in the ordinary course. */
  uncounted: number
}

/** Places of the log that one question may read: those of edges of a range, and all for tags. */
export const readMax = 100_000
/** Places beyond the count that are read to show what just ran. */
export const freshMax = 5000
/** Groups of one answer. */
export const rowsMax = 10_000
/** Places of one read, which nothing else of this process runs beside: some milliseconds. */
const stepMax = 1000

/**
 * Sums up the usage of an account or of some of its keys: most of it from counted sums, the rest
 * and the newest runs from the receipts themselves.
 * @throws Refusal 'invalid_request' when too many receipts or groups would have to be gone through.
 */
export async function usageOf({ usage }: Pick<Deps, 'usage'>, wish: UsageRequest): Promise<Usage> {
  const groups = makeGroups(wish)
  const by = {
    day: wish.groupBy.includes('day'),
    key: wish.groupBy.includes('key'),
    model: wish.groupBy.includes('model'),
    provider: wish.groupBy.includes('provider'),
    waits: wish.waits === true,
  }
  // Counted sums do not know their tags.
  const { pieces, edges } = wish.groupBy.includes('tag')
    ? { pieces: [], edges: [{ from: wish.from, to: wish.to }] }
    : piecesOf(wish, by)
  const picture = await usage.picture(wish, pieces, by)
  const { cursor, size } = picture
  for (const sums of picture.sums) groups.addSums(sums)
  for (const waits of picture.waits) groups.addWaits(waits)
  const isMine = mineOnly(wish)
  const add = (runs: CountedRun[], periods: Period[]): void => {
    for (const run of runs) {
      if (isMine(run) && periods.some((one) => isIn(one, run.finishedAt))) groups.addRun(run)
    }
  }
  add(picture.unnumbered, [wish])
  const asOf = Math.min(size, cursor + freshMax)
  for await (const step of walk([{ start: cursor, end: asOf }], stepMax)) {
    add(await usage.runsIn(step, wish), [wish])
  }
  for await (const step of walk(await countedPlaces(usage, wish, edges, cursor), stepMax)) {
    add(await usage.runsIn(step, wish), edges)
  }
  const { from, to, groupBy } = wish
  return { from, to, groupBy, ...groups.done(), asOf, uncounted: size - asOf }
}

/** The places of the counted receipts of some periods. */
async function countedPlaces(
  usage: Deps['usage'],
  wish: UsageRequest,
  periods: Period[],
  cursor: number,
): Promise<Span[]> {
  const days: Millis[] = []
  for (const { from, to } of periods) {
    const touched = { from: dayOf(from), to: Math.ceil(to / dayMs) * dayMs }
    days.push(...(await usage.daysOf(wish, touched)))
  }
  if (days.length === 0) return []
  const places = spansOf(days, await usage.marks(), { cursor, size: cursor })
  if (lengthOf(places) <= readMax) return places
  refuse('invalid_request', {
    param: wish.groupBy.includes('tag') ? 'group_by' : 'from',
    message:
      'This range holds too many receipts to go through one by one. Take whole days (UTC) ' +
      'without tags, a shorter range, or GET /v1/usage/export.',
  })
}

/** Whether a run of the account is of the keys that are asked for. */
export function mineOnly({ keyIds }: UsageOwner): (run: { keyId: string }) => boolean {
  if (!keyIds) return () => true
  const wanted = new Set(keyIds)
  return (run) => wanted.has(run.keyId)
}

type Group = Pick<UsageRow, 'day' | 'keyId' | 'model' | 'provider' | 'tag'>
type CountedGroup = { [field in 'keyId' | 'model' | 'provider']: string | null } & {
  day: Millis | null
}

function makeGroups({ groupBy, steps, waits: tellsWaits }: UsageRequest) {
  const by = new Set(groupBy)
  const found = new Map<string, UsageRow>()
  const totals = noSums()
  const waits: Waits = new Map()
  const dayAt = (at: Millis): Millis =>
    steps ? (steps.starts[stepAt(steps, at)] ?? steps.end) : dayOf(at)

  const rowOf = (of: Required<Group>): UsageRow => {
    const group: Group = {
      ...(by.has('day') ? { day: of.day } : {}),
      ...(by.has('key') ? { keyId: of.keyId } : {}),
      ...(by.has('model') ? { model: of.model } : {}),
      ...(by.has('provider') ? { provider: of.provider } : {}),
      ...(by.has('tag') ? { tag: of.tag } : {}),
    }
    const name = JSON.stringify(group)
    const known = found.get(name)
    if (known) return known
    if (found.size === rowsMax) refuseRows()
    const row = { ...group, ...noSums(), waits: new Map() }
    found.set(name, row)
    return row
  }
  const countedRow = ({ day, keyId, model, provider }: CountedGroup): UsageRow =>
    rowOf({
      day: day ?? 0,
      keyId: keyId ?? '',
      model: model ?? '',
      provider: provider ?? '',
      tag: null,
    })

  return {
    addSums(sums: Sums & CountedGroup): void {
      if (sums.runs === 0) return
      addSums(countedRow(sums), sums)
      addSums(totals, sums)
    },
    addWaits({ bar, runs, ...group }: CountedGroup & { bar: number; runs: number }): void {
      addWait(countedRow(group).waits, bar, runs)
      addWait(waits, bar, runs)
    },
    addRun(run: CountedRun): void {
      const sums = sumsOf(run)
      const bar = tellsWaits ? barOf(run) : undefined
      const tags: (Tag | null)[] = Object.entries(run.tags).map(([name, value]) => ({
        name,
        value,
      }))
      const group = { ...run, day: dayAt(run.finishedAt), provider: providerOf(run) }
      for (const tag of by.has('tag') && tags.length > 0 ? tags : [null]) {
        const row = rowOf({ ...group, tag })
        addSums(row, sums)
        if (bar !== undefined) addWait(row.waits, bar)
      }
      addSums(totals, sums)
      if (bar !== undefined) addWait(waits, bar)
    },
    done(): Pick<Usage, 'rows' | 'totals' | 'waits'> {
      if (totals.cost > maxNusd) {
        refuseField(
          'from',
          'This range cost more than a JSON number can say exactly. Take a shorter one.',
        )
      }
      return { rows: [...found.values()].sort(inOrder), totals, waits }
    },
  }
}

const inOrder = (a: UsageRow, b: UsageRow): number =>
  (a.day ?? 0) - (b.day ?? 0) ||
  compare(a.keyId, b.keyId) ||
  compare(a.model, b.model) ||
  compare(a.provider, b.provider) ||
  compare(a.tag?.name, b.tag?.name) ||
  compare(a.tag?.value, b.tag?.value)

/** By code units, the same on every machine; nothing comes before everything. */
function compare(a = '', b = ''): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

function refuseRows(): never {
  refuseField(
    'group_by',
    `This would be more than ${rowsMax} rows. Take a shorter range or group by less.`,
  )
}
