/** The operator's status panel. */
import { Panel } from '../../../web/ui/panel.tsx'
import { Badge } from '../../../web/ui/status.tsx'
import { type Column, Table } from '../../../web/ui/table.tsx'
import type { Finding } from '../findings.ts'

export const StatusPanel = ({ findings }: { findings: readonly Finding[] }) => (
  <Panel id="parts" title="Service status" aside={<Overall findings={findings} />}>
    <Table caption="Parts of the service" columns={columns} rows={findings} />
  </Panel>
)

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
