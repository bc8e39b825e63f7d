/** The panel of deposits that arrived. */
import type { Millis } from '../../../kernel/clock.ts'
import type { Page } from '../../../kernel/pagination.ts'
import type { DepositRow } from '../../../storage/db/schema/schema.ts'
import { Address } from '../../../web/ui/address.tsx'
import { Amount } from '../../../web/ui/amount.tsx'
import { Hash } from '../../../web/ui/hash.tsx'
import { List, nextOf } from '../../../web/ui/paged-list.tsx'
import { Badge, Live, type Tone } from '../../../web/ui/status.tsx'
import type { Column } from '../../../web/ui/table.tsx'
import { When } from '../../../web/ui/when.tsx'
import { DepositStages, type StagesView } from './deposit-stages.tsx'

export const depositsPath = '/dashboard/deposits'

export type HistoryView = {
  account: string
  found: Page<DepositRow>
  now: Millis
  isFirst: boolean
  /** How far the newest came; undefined where nothing is watched. */
  stages?: StagesView | undefined
}

/** The deposits, newest first. The first page is requested again every other second. */
export const HistoryPanel = ({
  view: { account, found, now, isFirst, stages },
}: {
  view: HistoryView
}) => (
  <div
    id="deposits"
    hx-get={isFirst ? '/api/portal/deposits' : undefined}
    hx-trigger={isFirst ? 'every 2s' : undefined}
    hx-swap={isFirst ? 'outerMorph' : undefined}
  >
    <List
      id="history"
      title="Your deposits"
      noun="deposits"
      items={found.items}
      columns={columnsFor(now)}
      href={depositsPath}
      next={nextOf(found)}
      isFirst={isFirst}
      hash={account}
      empty={{
        title: 'No deposits yet',
        text: 'A transfer from your wallet shows here within seconds of its block.',
      }}
      aside={isFirst && found.items.length > 0 ? <Live /> : null}
    >
      {isFirst && stages ? <DepositStages view={stages} /> : null}
    </List>
  </div>
)

export const stateColumn: Column<DepositRow> = {
  head: 'State',
  at: 'state',
  cell: (row) => {
    const { tone, label, hint } = wordsFor(row)
    return (
      <span title={hint}>
        <Badge tone={tone}>{label}</Badge>
      </span>
    )
  },
}

export const amountColumn: Column<DepositRow> = {
  head: 'Amount',
  kind: 'number',
  at: 'cost',
  cell: ({ amount }) => (amount === null ? 'Above the maximum' : <Amount nusd={amount} />),
}

const columnsFor = (now: Millis): Column<DepositRow>[] => [
  { head: 'Seen', at: 'when', cell: ({ seenAt }) => <When at={seenAt} now={now} /> },
  stateColumn,
  amountColumn,
  { head: 'From', kind: 'optional', at: 'who', cell: ({ from }) => <Address value={from} /> },
  { head: 'Transaction', at: 'what', cell: ({ txHash }) => <Hash value={txHash} /> },
]

/** A state for people: what it is, and what it means. */
export function wordsFor({ status, reason }: DepositRow): {
  tone: Tone
  label: string
  hint: string
} {
  if (reason === 'balance_full') {
    const hint = 'The balance would exceed its maximum. Spend some, and it is credited.'
    return { tone: 'warn', label: 'No room', hint }
  }
  if (reason === 'below_minimum') {
    return {
      tone: 'warn',
      label: 'Below the minimum',
      hint: 'Smaller than the smallest deposit that is credited.',
    }
  }
  if (reason === 'other_shard') {
    return {
      tone: 'warn',
      label: 'Another shard',
      hint: 'Credited where the wallet that sent it signs in.',
    }
  }
  if (reason?.startsWith('second_') && status === 'confirming') {
    const hint = 'Waits for a second check of the chain, then it is credited automatically.'
    return { tone: 'wait', label: 'Being checked', hint }
  }
  return words[status]
}

const words: Record<DepositRow['status'], { tone: Tone; label: string; hint: string }> = {
  detected: { tone: 'wait', label: 'Seen', hint: 'In a block; credited a few blocks later.' },
  confirming: {
    tone: 'wait',
    label: 'Confirming',
    hint: 'Waits until its block is safe or final.',
  },
  credited: { tone: 'ok', label: 'Credited', hint: 'Part of the balance.' },
  finalized: { tone: 'ok', label: 'Final', hint: 'Part of the balance, for good.' },
  orphaned: { tone: 'bad', label: 'Gone', hint: 'The chain dropped it before it was credited.' },
  reversed: { tone: 'bad', label: 'Reversed', hint: 'The chain dropped it after its credit.' },
  ignored: { tone: 'warn', label: 'Not credited', hint: 'More than a balance can hold.' },
}
