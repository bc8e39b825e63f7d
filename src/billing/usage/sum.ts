/** Sums usage by day, key, model and tag. */
import type { Deps } from '../../app/deps-port.ts'
import type { Millis } from '../../kernel/clock.ts'
import { maxNusd } from '../../kernel/money.ts'
import { refuse, refuseField } from '../../kernel/refusal.ts'
import { isIn, lengthOf, type Period, type Span, spansOf, splitDays, walk } from './log-range.ts'
import type { UsageOwner } from './store.ts'
import { addSums, type CountedRun, dayMs, dayOf, noSums, type Sums, sumsOf } from './usage.ts'

export const dimensions = ['day', 'key', 'model', 'tag'] as const
export type Dimension = (typeof dimensions)[number]

export type UsageRequest = UsageOwner & Period & { groupBy: readonly Dimension[] }

/** A tag of a run; a run with two tags is in two groups, one without any in the group `null`. */
export type Tag = { name: string; value: string }

/** The sums of one group: it has the members it is grouped by. */
export type UsageRow = Sums & { day?: Millis; keyId?: string; model?: string; tag?: Tag | null }

export type Usage = Period & {
  groupBy: readonly Dimension[]
  /** In the order of day, key, model, tag. */
  rows: UsageRow[]
  /** Every run once, also when it is in several rows. */
  totals: Sums
  /** The part of the log that is counted: every receipt with a place below it. */
  asOf: number
  /** Leaves of the log beyond it, because the count lags far behind; 0 in the ordinary course. */
  uncounted: number
}

/** Places of the log that one question may read: those of edges of days, and all for tags. */
export const readMax = 100_000
/** Places beyond the count that are read to show what just ran. */
export const freshMax = 5000
/** Groups of one answer. */
export const rowsMax = 10_000
/** Places of one read, which nothing else of this process runs beside: some milliseconds. */
const stepMax = 1000

/**
 * What an account, or some of its keys, used: whole days from their sums, the rest and what just
 * ran from the receipts themselves.
 * @throws Refusal 'invalid_request' when too many receipts or groups would have to be gone through.
 */
export async function usageOf({ usage }: Pick<Deps, 'usage'>, wish: UsageRequest): Promise<Usage> {
  const groups = makeGroups(wish.groupBy)
  const byTag = wish.groupBy.includes('tag')
  const { whole, edges } = splitDays(wish)
  // A day's sums do not know their tags.
  const days = byTag ? { from: 0, to: 0 } : whole
  const readPeriods = byTag ? [{ from: wish.from, to: wish.to }] : edges
  const picture = await usage.picture(wish, days, {
    day: wish.groupBy.includes('day'),
    key: wish.groupBy.includes('key'),
    model: wish.groupBy.includes('model'),
  })
  const { cursor, size } = picture
  for (const sums of picture.sums) groups.addDay(sums)
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
  for await (const step of walk(await countedPlaces(usage, wish, readPeriods, cursor), stepMax)) {
    add(await usage.runsIn(step, wish), readPeriods)
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

type Group = Pick<UsageRow, 'day' | 'keyId' | 'model' | 'tag'>

function makeGroups(groupBy: readonly Dimension[]) {
  const by = new Set(groupBy)
  const found = new Map<string, UsageRow>()
  const totals = noSums()

  const addTo = (of: Required<Group>, sums: Sums): void => {
    const group: Group = {
      ...(by.has('day') ? { day: of.day } : {}),
      ...(by.has('key') ? { keyId: of.keyId } : {}),
      ...(by.has('model') ? { model: of.model } : {}),
      ...(by.has('tag') ? { tag: of.tag } : {}),
    }
    const name = JSON.stringify(group)
    const row = found.get(name)
    if (row) addSums(row, sums)
    else found.set(name, { ...group, ...pick(sums) })
    if (found.size > rowsMax) refuseRows()
  }

  return {
    addDay(sums: Sums & { day: Millis | null; keyId: string | null; model: string | null }): void {
      if (sums.runs === 0) return
      const { day, keyId, model } = sums
      addTo({ day: day ?? 0, keyId: keyId ?? '', model: model ?? '', tag: null }, sums)
      addSums(totals, sums)
    },
    addRun(run: CountedRun): void {
      const sums = sumsOf(run)
      const tags: (Tag | null)[] = Object.entries(run.tags).map(([name, value]) => ({
        name,
        value,
      }))
      const groups = by.has('tag') && tags.length > 0 ? tags : [null]
      for (const tag of groups) addTo({ ...run, day: dayOf(run.finishedAt), tag }, sums)
      addSums(totals, sums)
    },
    done(): { rows: UsageRow[]; totals: Sums } {
      if (totals.cost > maxNusd) {
        refuseField(
          'from',
          'This range cost more than a JSON number can say exactly. Take a shorter one.',
        )
      }
      return { rows: [...found.values()].sort(inOrder), totals }
    },
  }
}

const pick = (sums: Sums): Sums => {
  const own = noSums()
  addSums(own, sums)
  return own
}

const inOrder = (a: UsageRow, b: UsageRow): number =>
  (a.day ?? 0) - (b.day ?? 0) ||
  compare(a.keyId, b.keyId) ||
  compare(a.model, b.model) ||
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
