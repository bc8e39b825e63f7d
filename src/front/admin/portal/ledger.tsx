import type { Millis } from '../../../kernel/clock.ts'
import type { Nusd } from '../../../kernel/money.ts'
import { Amount } from '../../../web/ui/amount.tsx'
import { Button } from '../../../web/ui/button.tsx'
import { ActionForm } from '../../../web/ui/form.tsx'
import { Notice } from '../../../web/ui/notice.tsx'
import { Pad, Panel } from '../../../web/ui/panel.tsx'
import { type Column, Table } from '../../../web/ui/table.tsx'
import { When } from '../../../web/ui/when.tsx'
import type { Audited } from '../audit-now.ts'

export type LedgerView = { audited: Audited | undefined; now: Millis }

/** Whether money agrees with its journal, asked now, and what every side of it has. */
export const LedgerPanel = ({ view: { audited, now } }: { view: LedgerView }) => (
  <Panel id="ledger" title="Audit of the ledger">
    <Pad>
      <p>
        Compares every balance with the journal, what is held with the open runs, and what was spent
        with their costs. It reads everything: on a large database it takes a while.
      </p>
      {audited ? (
        <Result audited={audited} now={now} />
      ) : (
        <p>This process has not been asked yet.</p>
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

function Result({ audited: { at, faults }, now }: { audited: Audited; now: Millis }) {
  const when = <When at={at} now={now} />
  if (faults.length === 0) {
    return (
      <Notice tone="ok" title="Everything adds up.">
        Audited {when}.
      </Notice>
    )
  }
  return (
    <>
      <Notice tone="bad" title="The books do not balance.">
        Audited {when}. Stop the server, keep this database, and restore the newest backup that is
        whole.
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
  user: 'What all accounts have',
  revenue: 'What runs cost',
  plans: 'What plans cost',
  grants: "The operator's money, given",
  deposits: 'The treasury on the chain',
  loss: 'Deposits that a reorg took away',
  terminal: 'What visitors of the terminal spent',
} as const

function sides({ sides: all }: Audited): Side[] {
  const names = Object.keys(meanings) as (keyof typeof meanings)[]
  return names.map((name) => ({ name, meaning: meanings[name], amount: all[name] ?? 0n }))
}

const columns: Column<Side>[] = [
  { head: 'Side', cell: ({ name }) => <code>{name}</code> },
  { head: 'What it is', cell: ({ meaning }) => meaning },
  { head: 'In less out', kind: 'number', cell: ({ amount }) => <Amount nusd={amount} /> },
]
