/** The controls of the page of usage: its metric, and chips that apply on change. */
import { Refusal } from '../../../kernel/refusal.ts'
import type { ZoneName } from '../../../kernel/zone.ts'
import { pathWith } from '../../../web/http/query.ts'
import { filterQuery } from '../../../web/http/query-fields.ts'
import { FilterBar } from '../../../web/ui/filters.tsx'
import type { Option } from '../../../web/ui/form.tsx'
import { datedQuery, isDated, recentQuery } from '../api/page-query.ts'
import { type Metric, metrics } from '../metric.ts'
import type { Report } from '../report.ts'
import { edgeDates, zoneText } from './usage-words.ts'

type ControlsProps = {
  path: string
  query: URLSearchParams
  zone: ZoneName
  /** Undefined where there are too many to choose from. */
  keys: readonly { id: string; name: string }[] | undefined
  found: Report | Refusal
}

const metricWords: Record<Metric, string> = {
  spend: 'Spend',
  requests: 'Requests',
  tokens: 'Tokens',
  first_token: 'First token',
}

export function UsageControls({ path, query, zone, keys, found }: ControlsProps) {
  const metric = metrics.find((one) => one === query.get('metric')) ?? 'spend'
  const dated = isDated(query)
  return (
    <div class="chips usage-controls">
      <nav class="seg" aria-label="Metric">
        {metrics.map((one) => (
          <a
            href={pathWith(path, addressed(query, { metric: one === 'spend' ? '' : one }))}
            aria-current={one === metric ? 'page' : undefined}
          >
            {metricWords[one]}
          </a>
        ))}
      </nav>
      <FilterBar
        action={path}
        target="#main"
        swap="innerMorph"
        query={shownQuery(query, zone, found)}
        of={dated ? datedQuery : recentQuery}
        keeps={{ metric: metric === 'spend' ? '' : metric }}
        choices={{
          group_by: groupsFor(metric),
          ...(dated ? { days: [{ value: 'dates', label: 'Dates' }, ...lastOptions] } : {}),
          ...(keys ? { key: keys.map(({ id, name }) => ({ value: id, label: name })) } : {}),
        }}
      />
      <small class="push quiet">Days in {zoneText(zone)}</small>
    </div>
  )
}

/** The filled fields of an address, some of them changed. */
const addressed = (query: URLSearchParams, changed: Record<string, string>) => ({
  ...Object.fromEntries(filterQuery(query, datedQuery)),
  ...changed,
})

const lastOptions: Option[] = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: '365 days' },
]

/** The values of the chips: 30 days are the choice that is left empty. */
function shownQuery(query: URLSearchParams, zone: ZoneName, found: Report | Refusal) {
  const shown = filterQuery(query, datedQuery)
  if (!isDated(query)) {
    if (shown.get('days') === '30') shown.delete('days')
    return shown
  }
  shown.set('days', 'dates')
  if (found instanceof Refusal) return shown
  const dates = edgeDates(zone, found)
  shown.set('from', dates.from)
  shown.set('to', dates.to)
  return shown
}

/** The groups of a metric; the first one is its own. */
function groupsFor(metric: Metric): Option[] {
  const groups = [
    { value: 'model', label: 'model' },
    { value: 'key', label: 'key' },
    { value: 'tag', label: 'tag' },
    { value: 'provider', label: 'provider' },
    { value: 'day', label: 'day' },
  ]
  if (metric === 'tokens') return [{ value: '', label: 'class' }, ...groups]
  return [{ value: '', label: 'model' }, ...groups.slice(1)]
}
