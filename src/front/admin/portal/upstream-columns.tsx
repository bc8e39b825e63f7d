/** The columns of upstreams on the operator's models page: health, times and reasons. */
import type { Model } from '../../../models/model.ts'
import type { Fault } from '../../../models/upstream/operator-fault.ts'
import { Badge } from '../../../web/ui/status.tsx'
import type { Column } from '../../../web/ui/table.tsx'
import type { UpstreamHealth } from '../upstreams.ts'
import { changePath } from './change-pages.tsx'

const stateWords = { closed: 'Live', open: 'Paused', half_open: 'Retrying' }

const deniedWords = ({ status }: Fault): string =>
  status === 402 ? 'Not paid (402)' : `Key refused (${status ?? 'no status'})`

const capitalised = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

export const upstreamColumns = (models: readonly Model[]): Column<UpstreamHealth>[] => [
  {
    head: 'Upstream',
    cell: ({ id }) => (
      <a href={changePath('upstream', id)}>
        <code>{id}</code>
      </a>
    ),
  },
  {
    head: 'State',
    at: 'state',
    cell: ({ breaker = 'closed', fault, keys = [] }) => (
      <>
        <Badge tone={breaker === 'closed' && !fault ? 'ok' : 'bad'}>
          {fault ? deniedWords(fault) : stateWords[breaker]}
        </Badge>
        {keys
          .filter(({ status }) => status !== 'ok')
          .map(({ name, fault: refused }) => (
            <>
              {' '}
              <Badge tone="warn">{`${name}: ${refused ? deniedWords(refused) : 'Limited'}`}</Badge>
            </>
          ))}
      </>
    ),
  },
  {
    head: 'Models',
    kind: 'optional-number',
    cell: ({ id }) =>
      models.filter(({ route }) => route.some((step) => step.upstream === id)).length,
  },
  { head: 'Requests', kind: 'number', cell: ({ asked }) => asked.toLocaleString('en-US') },
  {
    head: 'Share',
    kind: 'optional-number',
    cell: ({ share }) => `${(100 * share).toFixed(1)}%`,
  },
  {
    head: 'Failed',
    kind: 'number',
    cell: ({ failed }) => failed.toLocaleString('en-US'),
  },
  {
    head: 'First token',
    kind: 'optional',
    cell: ({ latencies }) =>
      latencies.map(({ model, ms }) => `${model} ${(ms / 1000).toFixed(2)} s`).join(', ') || '–',
  },
  {
    head: 'Reasons',
    cell: ({ reasons }) =>
      reasons.map(([reason, count]) => (
        <>
          <Badge tone="warn">{`${capitalised(reason)} ${count}`}</Badge>{' '}
        </>
      )),
  },
  {
    head: 'Load',
    kind: 'optional',
    cell: ({ load }) =>
      load ? `${load.taken} of ${load.most}, ${load.waiting} waiting` : 'No limit',
  },
]
