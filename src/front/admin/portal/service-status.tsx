/** The operator's status panel. */
import { Panel } from '../../../web/ui/panel.tsx'
import { Badge } from '../../../web/ui/status.tsx'
import { type Column, Table } from '../../../web/ui/table.tsx'
import type { Finding } from '../findings.ts'

/** Parts that need attention stand open; those that are well are one folded line. */
export function StatusPanel({ findings }: { findings: readonly Finding[] }) {
  const [well, others] = [true, false].map((isWell) =>
    findings.filter(({ tone }) => (tone === 'ok') === isWell),
  ) as [Finding[], Finding[]]
  return (
    <Panel id="parts" title="Service" aside={<Overall findings={findings} />}>
      {others.length > 0 ? (
        <Table caption="Parts that need attention" columns={columns} rows={others} />
      ) : null}
      {well.length > 0 ? (
        <details class="well">
          <summary>
            {well.length === 1 ? '1 part is well' : `${well.length} parts are well`}
          </summary>
          <Table caption="Parts that are well" columns={columns} rows={well} />
        </details>
      ) : null}
    </Panel>
  )
}

function Overall({ findings }: { findings: readonly Finding[] }) {
  const bad = findings.filter(({ tone }) => tone === 'bad').length
  if (bad === 0) return <Badge tone="ok">All systems normal</Badge>
  return (
    <Badge tone="bad">{bad === 1 ? '1 part needs attention' : `${bad} parts need attention`}</Badge>
  )
}

const columns: Column<Finding>[] = [
  { head: 'Part', cell: ({ part }) => <strong>{part}</strong> },
  { head: 'State', at: 'act', cell: ({ tone, state }) => <Badge tone={tone}>{state}</Badge> },
  {
    head: 'Advice',
    at: 'state',
    cell: ({ advice, tone }) => (tone === 'ok' ? <span class="quiet">{advice}</span> : advice),
  },
]
