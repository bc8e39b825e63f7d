/** The figure of the list of runs: today's count, and a histogram of the last days. */

import type { Deps } from '../../app/deps-port.ts'
import { type UsageRow, usageOf } from '../../billing/usage/sum.ts'
import { dayMs, dayOf, noSums, type Sums } from '../../billing/usage/usage.ts'
import type { KeyScope } from '../../kernel/acting.ts'
import type { Millis } from '../../kernel/clock.ts'
import { Amount } from '../../web/ui/amount.tsx'
import { Figure } from '../../web/ui/panel.tsx'
import { dateWords } from '../../web/ui/when.tsx'

export const shownDays = 30

/** The sums of one day (UTC). */
export type DaySums = Pick<Sums, 'runs' | 'succeeded' | 'cost'> & { day: Millis }

type UsageDeps = Pick<Deps, 'usage' | 'keys'>

/** The runs that ended on each of the last days, today last. */
export async function readDays(deps: UsageDeps, whose: KeyScope, now: Millis): Promise<DaySums[]> {
  const { account, branch } = whose
  const own = branch === undefined ? {} : { keyIds: await deps.keys.ofBranch(branch) }
  const today = dayOf(now)
  const range = { from: today - (shownDays - 1) * dayMs, to: today + dayMs }
  const { rows } = await usageOf(deps, { account, ...own, ...range, groupBy: ['day'] })
  return daysOf(rows, today)
}

function daysOf(rows: readonly UsageRow[], today: Millis): DaySums[] {
  const known = new Map(rows.map((row) => [row.day, row]))
  return Array.from({ length: shownDays }, (_, i) => {
    const day = today - (shownDays - 1 - i) * dayMs
    const { runs, succeeded, cost } = known.get(day) ?? noSums()
    return { day, runs, succeeded, cost }
  })
}

export function RunFigure({ days }: { days: readonly DaySums[] }) {
  const today = days.at(-1) ?? { day: 0, ...noSums() }
  const all = days.reduce((sum, { runs }) => sum + runs, 0)
  return (
    <Figure
      label="Today"
      big={today.runs.toLocaleString('en-US')}
      beside={<Histogram days={days} />}
    >
      <p>
        <Amount nusd={today.cost} as="sum" /> spent
        {today.runs > 0 ? (
          <>
            {' · '}
            <b>{percentOf(today)}</b> succeeded
          </>
        ) : null}
        {' · '}
        <b>{all.toLocaleString('en-US')}</b> in {days.length} days
      </p>
    </Figure>
  )
}

/** Rounded down: one failed run of many is told. */
function percentOf({ succeeded, runs }: DaySums): string {
  return `${Math.floor((succeeded / runs) * 1000) / 10}%`
}

/** Each bar leads to the runs of its day. */
function Histogram({ days }: { days: readonly DaySums[] }) {
  const top = Math.max(1, ...days.map(({ runs }) => runs))
  return (
    <div class="hist">
      <svg
        viewBox={`0 0 ${days.length * 10} 100`}
        preserveAspectRatio="none"
        aria-labelledby="runs-finding"
      >
        <title id="runs-finding">
          Runs per day, last {days.length} days. At most {top.toLocaleString('en-US')}.
        </title>
        {days.map(({ day, runs }, i) => {
          const height = runs === 0 ? 0 : Math.max(2, (runs / top) * 100)
          const words = `${dayWords(day)}: ${runs.toLocaleString('en-US')} runs`
          return (
            <a href={hrefOf(day)} aria-label={words}>
              <rect
                x={String(i * 10 + 1)}
                y={(100 - height).toFixed(1)}
                width="8"
                height={height.toFixed(1)}
              />
              <rect class="hit" x={String(i * 10)} y="0" width="10" height="100" />
            </a>
          )
        })}
      </svg>
    </div>
  )
}

export const dayWords = dateWords({ timeZone: 'UTC', month: 'short', day: 'numeric' })

function hrefOf(day: Millis): string {
  const date = new Date(day).toISOString().slice(0, 10)
  return `/dashboard/runs?${new URLSearchParams({ from: date, to: date })}`
}

/** The head of a day in the list; sums stand in it where nothing is left out. */
export function dayHead(days: readonly DaySums[] | undefined, now: Millis) {
  return (day: Millis) => {
    const found = days?.find((one) => one.day === day)
    return {
      name: day === dayOf(now) ? 'Today' : dayWords(day),
      sums: found ? (
        <>
          {found.runs.toLocaleString('en-US')} {found.runs === 1 ? 'run' : 'runs'} ·{' '}
          <Amount nusd={found.cost} as="sum" />
        </>
      ) : null,
    }
  }
}
