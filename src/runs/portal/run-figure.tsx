/** The figure of the list of runs: today's count, and a histogram of the last days. */

import type { Deps } from '../../app/deps-port.ts'
import { stepsOf } from '../../billing/usage/chart-steps.ts'
import { usageOf } from '../../billing/usage/sum.ts'
import { noSums, type Sums } from '../../billing/usage/usage.ts'
import { type Actor, type KeyScope, zoneOf } from '../../kernel/acting.ts'
import type { Millis } from '../../kernel/clock.ts'
import { dayAway, dayStart, type ZoneName } from '../../kernel/zone.ts'
import { Amount } from '../../web/ui/amount.tsx'
import { Figure } from '../../web/ui/panel.tsx'
import { runsHref } from '../../web/ui/runs-href.ts'
import { dayText } from '../../web/ui/when.tsx'

export const shownDays = 30

/** The sums of one day. */
export type DaySums = Pick<Sums, 'runs' | 'succeeded' | 'cost'> & { day: Millis }

type UsageDeps = Pick<Deps, 'usage' | 'keys'>

type Reader = KeyScope & Pick<Actor, 'zone'>

/** The runs that ended on each of the last days of the reader, today last. */
export async function readDays(deps: UsageDeps, whose: Reader, now: Millis): Promise<DaySums[]> {
  const { account, branch } = whose
  const zone = zoneOf(whose)
  const own = branch === undefined ? {} : { keyIds: await deps.keys.ofBranch(branch) }
  const range = { from: dayAway(zone, now, 1 - shownDays), to: dayAway(zone, now, 1) }
  const steps = stepsOf(zone, range, 'day')
  const { rows } = await usageOf(deps, { account, ...own, ...range, groupBy: ['day'], steps })
  const known = new Map(rows.map((row) => [row.day, row]))
  return steps.starts.map((day) => {
    const { runs, succeeded, cost } = known.get(day) ?? noSums()
    return { day, runs, succeeded, cost }
  })
}

type FigureProps = { days: readonly DaySums[]; zone: ZoneName }

export function RunFigure({ days, zone }: FigureProps) {
  const today = days.at(-1) ?? { day: 0, ...noSums() }
  const all = days.reduce((sum, { runs }) => sum + runs, 0)
  return (
    <Figure
      label="Today"
      big={today.runs.toLocaleString('en-US')}
      beside={<Histogram days={days} zone={zone} />}
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
function Histogram({ days, zone }: FigureProps) {
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
          const words = `${dayText(day, zone)}: ${runs.toLocaleString('en-US')} runs`
          return (
            <a href={runsHref({ from: day, to: dayAway(zone, day, 1), zone })} aria-label={words}>
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

/** Sums are in cents; one below that is not told as nothing. */
const cent = 10_000_000n

/** The head of a day in the list; sums stand in it where nothing is left out. */
export function dayHead(
  days: readonly DaySums[] | undefined,
  { now, zone }: { now: Millis; zone: ZoneName },
) {
  return (day: Millis) => {
    const found = days?.find((one) => one.day === day)
    return {
      name: day === dayStart(zone, now) ? 'Today' : dayText(day, zone),
      sums: found ? (
        <>
          {found.runs.toLocaleString('en-US')} {found.runs === 1 ? 'run' : 'runs'} ·{' '}
          <Amount nusd={found.cost} as={found.cost < cent ? 'list' : 'sum'} />
        </>
      ) : null,
    }
  }
}
