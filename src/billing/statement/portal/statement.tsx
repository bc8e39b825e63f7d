/** The page of a statement. */
import type { Nusd } from '../../../kernel/money.ts'
import { dateIn, type ZoneName } from '../../../kernel/zone.ts'
import { changeOf } from '../../../ledger/number-transfers.ts'
import type { AccountRow } from '../../../storage/db/schema/schema.ts'
import { Amount } from '../../../web/ui/amount.tsx'
import { ButtonLink } from '../../../web/ui/button.tsx'
import { ChoiceTabs } from '../../../web/ui/filters.tsx'
import type { Child } from '../../../web/ui/jsx-runtime.ts'
import { List } from '../../../web/ui/paged-list.tsx'
import { Figure, PageHead } from '../../../web/ui/panel.tsx'
import type { Column } from '../../../web/ui/table.tsx'
import { dateText, ExactTime, ZoneNote } from '../../../web/ui/when.tsx'
import type { StatementDay } from '../days.ts'
import { type Movement, placeText } from '../movement.ts'
import { statementQuery } from './statement-query.ts'

export const statementPath = '/dashboard/statement'
const eachPath = `${statementPath}?by=movement`

export type StatementView = {
  account: AccountRow
  zone: ZoneName
  isFirst: boolean
  hasMore: boolean
} & ({ items: Movement[] } | { days: StatementDay[] })

export const StatementPage = ({ view }: { view: StatementView }) => (
  <>
    <PageHead title="Statement">
      <ButtonLink icon="download" href="/api/portal/statement/export" download>
        Export CSV, in UTC
      </ButtonLink>
    </PageHead>
    <Figure label="Balance" big={<Amount nusd={view.account.balance} as="sum" round="down" />}>
      <p>
        <Amount nusd={view.account.held} as="list" round="up" /> held for runs in flight ·{' '}
        <Amount nusd={view.account.balance - view.account.held} as="sum" round="down" /> available
      </p>
    </Figure>
    <StatementPanel view={view} />
  </>
)

/** The list, and the way to the other form of it. */
export const StatementPanel = ({ view }: { view: StatementView }) => {
  const isByDay = 'days' in view
  const list = {
    id: 'statement',
    title: 'Balance history',
    noun: 'entries',
    href: isByDay ? statementPath : eachPath,
    next: view.hasMore ? lastPlace(view) : undefined,
    isFirst: view.isFirst,
    hash: view.account.id,
    words: <ZoneNote zone={view.zone} />,
    empty: {
      title: 'No entries yet',
      text: 'Every deposit, run and plan appears here, with the balance after it.',
    },
    aside: (
      <ChoiceTabs
        path={statementPath}
        of={statementQuery}
        name="by"
        values={{ by: isByDay ? undefined : 'movement' }}
      />
    ),
  }
  return isByDay ? (
    <List
      {...list}
      columns={dayColumns}
      items={view.days.flatMap((day) => linesOf(day, view.zone))}
    />
  ) : (
    <List {...list} columns={movementColumns} items={view.items} />
  )
}

function lastPlace(view: StatementView): string | undefined {
  if ('items' in view) {
    const last = view.items.at(-1)
    return last && placeText(last)
  }
  const last = view.days.at(-1)
  return last && dateIn(view.zone, last.day)
}

/** A line of the list by day; the first one of a day says what was there at its end. */
type DayLine = { what: Child; amount: Nusd; when: Child; closing?: Nusd }

function linesOf({ day, closing, runs, others, isMixed }: StatementDay, zone: ZoneName): DayLine[] {
  const count = runs.count.toLocaleString('en-US')
  const what = isMixed ? `${count} runs and more` : runs.count === 1 ? '1 run' : `${count} runs`
  const lines: DayLine[] = [
    ...(runs.count > 0 ? [{ what, amount: runs.amount, when: <Day at={day} zone={zone} /> }] : []),
    ...others.map((one) => ({
      what: whatOf(one),
      amount: changeOf(one),
      when: <ExactTime at={one.at} />,
    })),
  ]
  return lines.map((line, i) => (i === 0 ? { ...line, closing } : line))
}

const dayColumns: Column<DayLine>[] = [
  { head: 'What', cell: ({ what, when }) => <Timed what={what} when={when} /> },
  { head: 'Amount', kind: 'number', at: 'cost', cell: ({ amount }) => <Signed nusd={amount} /> },
  {
    head: 'End of day',
    kind: 'number',
    cell: ({ closing }) =>
      closing === undefined ? '' : <Amount nusd={closing} as="sum" round="down" />,
  },
]

const movementColumns: Column<Movement>[] = [
  {
    head: 'What',
    cell: (line) => <Timed what={whatOf(line)} when={<ExactTime at={line.at} />} />,
  },
  { head: 'Amount', kind: 'number', at: 'cost', cell: (line) => <Signed nusd={changeOf(line)} /> },
  {
    head: 'Balance',
    kind: 'number',
    cell: ({ balance }) => <Amount nusd={balance} as="list" round="down" />,
  },
]

/** The time below the words: on a phone the amounts need the width. */
const Timed = ({ what, when }: { what: Child; when: Child }) => (
  <>
    {what}
    <small class="quiet">{when}</small>
  </>
)

const Day = ({ at, zone }: { at: number; zone: ZoneName }) => (
  <time datetime={dateIn(zone, at)}>{dateText(at, zone)}</time>
)

const Signed = ({ nusd }: { nusd: Nusd }) => (
  <>
    {nusd > 0n ? '+' : ''}
    <Amount nusd={nusd} as="list" />
  </>
)

function whatOf({ kind, ref, source }: Movement): Child {
  if (kind === 'run') {
    return (
      <a href={`/dashboard/runs/${encodeURIComponent(ref)}`}>
        Run <code>{ref.slice(-6)}</code>
      </a>
    )
  }
  if (kind === 'refund') return source === 'user' ? 'Deposit, paid back' : 'Refund'
  if (kind === 'claim')
    return source === 'user' ? 'Deposit, assigned to another account' : 'Deposit, claimed'
  if (kind === 'move')
    return source === 'user' ? 'Moved to another shard' : 'Moved here from another shard'
  return words[kind]
}

const words = {
  plan: 'Plan',
  grant: 'Credit',
  deposit: 'Deposit',
  reversal: 'Deposit, reversed',
  loss: 'Written off by the operator',
  voucher: 'Voucher',
} as const
