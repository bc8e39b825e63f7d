/** The operator's view of the ledger audit. */
import type { Millis } from '../../../kernel/clock.ts'
import type { Nusd } from '../../../kernel/money.ts'
import { Amount } from '../../../web/ui/amount.tsx'
import { Button } from '../../../web/ui/button.tsx'
import { ActionForm } from '../../../web/ui/form.tsx'
import { Notice } from '../../../web/ui/notice.tsx'
import { Pad, Panel } from '../../../web/ui/panel.tsx'
import { type Column, Table } from '../../../web/ui/table.tsx'
import { When } from '../../../web/ui/when.tsx'
import type { AuditResult } from '../audit-now.ts'

export type LedgerView = { audited: AuditResult | undefined; now: Millis }

export const LedgerPanel = ({ view: { audited, now } }: { view: LedgerView }) => (
  <Panel id="ledger" title="Audit of the ledger">
    <Pad>
      <p>
        Compares every balance with the journal, holds with the open runs, and spend with the cost
        of runs. It reads the whole database, which can take a while.
      </p>
      {audited ? (
        <Result audited={audited} now={now} />
      ) : (
        <p>No audit since this process started.</p>
      )}
      <ActionForm action="/api/portal/admin/ledger/audit" target="#ledger">
        <Button>Audit now</Button>
      </ActionForm>
    </Pad>
    {audited ? (
      <Table caption="Sides of the journal" columns={columns} rows={sides(audited)} />
    ) : null}
  </Panel>
)

function Result({ audited: { at, faults }, now }: { audited: AuditResult; now: Millis }) {
  const when = <When at={at} now={now} />
  if (faults.length === 0) {
    return (
      <Notice tone="ok" title="The ledger balances.">
        Audited {when}.
      </Notice>
    )
  }
  return (
    <>
      <Notice tone="bad" title="The ledger does not balance.">
        Audited {when}. Stop the server, keep this database, and restore the newest intact backup.
      </Notice>
      <ul class="affected">
        {faults.map((fault) => (
          <li>{fault}</li>
        ))}
      </ul>
    </>
  )
}

type Side = { name: string; meaning: string; amount: Nusd }

const meanings = {
  user: 'Balances of all accounts',
  revenue: 'Cost of runs',
  plans: 'Cost of plans',
  grants: 'Credit granted by the operator',
  deposits: 'Deposits to the treasury',
  loss: 'Deposits reversed by a reorg',
  terminal: 'Spend of terminal visitors',
  refunds: 'Cost of runs given back',
  vouchers: 'Vouchers redeemed',
} as const

function sides({ sides: all }: AuditResult): Side[] {
  const names = Object.keys(meanings) as (keyof typeof meanings)[]
  return names.map((name) => ({ name, meaning: meanings[name], amount: all[name] ?? 0n }))
}

const columns: Column<Side>[] = [
  { head: 'Side', cell: ({ name }) => <code>{name}</code> },
  { head: 'Meaning', at: 'who', cell: ({ meaning }) => meaning },
  { head: 'Net', kind: 'number', at: 'cost', cell: ({ amount }) => <Amount nusd={amount} /> },
]
