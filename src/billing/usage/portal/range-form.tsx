/** The form of a range of days: the last few, or from one day to another. */
import { Refusal } from '../../../kernel/refusal.ts'
import { pathWith } from '../../../web/http/query.ts'
import { Button } from '../../../web/ui/button.tsx'
import { Tabs } from '../../../web/ui/filters.tsx'
import { TextField } from '../../../web/ui/form.tsx'
import { rangeDays } from '../api/usage-query.ts'
import { toDate } from '../usage-view.ts'

type Range = { from: number; to: number }

type RangeProps = {
  /** The page that it narrows. */
  path: string
  query: URLSearchParams
  /** The parameter that stays beside the range: how the rows are grouped. */
  keeps: string
  /** The range that is shown, or why there is none. */
  found: Range | Refusal
}

export const RangeForm = ({ path, query, keeps, found }: RangeProps) => {
  const href = (days?: string) => pathWith(path, { days, [keeps]: query.get(keeps) ?? undefined })
  const isTyped = query.get('from') || query.get('to')
  return (
    <search class="sec">
      <form class="pad range" method="get" action={path}>
        <Tabs
          label="Range"
          tabs={rangeDays.map((days) => ({ href: href(days), label: `${days} days` }))}
          here={href(query.get('days') || (isTyped ? undefined : '30'))}
        />
        <TextField name="from" label="From" type="date" value={edgeOf(query, 'from', found)} />
        <TextField name="to" label="To" type="date" value={edgeOf(query, 'to', found)} />
        {query.has(keeps) ? (
          <input type="hidden" name={keeps} value={query.get(keeps) ?? ''} />
        ) : null}
        <Button>Show</Button>
      </form>
    </search>
  )
}

/** The range of an address, as its links keep it. */
export const rangeOf = (query: URLSearchParams) =>
  Object.fromEntries(['days', 'from', 'to'].map((name) => [name, query.get(name) ?? undefined]))

/** The day that was typed, or where the range that is shown begins or ends. */
function edgeOf(query: URLSearchParams, edge: 'from' | 'to', found: Range | Refusal): string {
  const typed = query.get(edge)
  // Browsers complain of any other value in a field of dates.
  if (typed && /^\d{4}-\d\d-\d\d$/.test(typed)) return typed
  if (found instanceof Refusal) return ''
  return toDate(edge === 'from' ? found.from : found.to - 1)
}
