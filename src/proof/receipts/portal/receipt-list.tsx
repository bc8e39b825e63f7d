/** The list of an account's receipts: how it looks, and what narrows it. */
import { toHex } from '../../../kernel/hex.ts'
import type { ZoneName } from '../../../kernel/zone.ts'
import { Amount } from '../../../web/ui/amount.tsx'
import { sameOptions } from '../../../web/ui/filters.tsx'
import { CopyId } from '../../../web/ui/hash.tsx'
import type { ListLook } from '../../../web/ui/list-page.tsx'
import { RosetteMark } from '../../../web/ui/rosette.tsx'
import { StageBadge } from '../../../web/ui/stage.tsx'
import { Badge } from '../../../web/ui/status.tsx'
import type { Column } from '../../../web/ui/table.tsx'
import { When } from '../../../web/ui/when.tsx'
import { ownReceiptQuery, visibilityWords } from '../api/receipt-query.ts'
import { receiptIdOf } from '../receipt.ts'
import { passedMax, type Visibility } from '../receipts.ts'
import type { ShownReceipt } from '../shown-receipt.ts'

export const listPath = '/dashboard/receipts'
export const ownPath = (id: string): string => `${listPath}/${id}`

type ReceiptsView = { now: number; models: readonly string[]; zone: ZoneName }

export const receiptsLook = ({ now, models, zone }: ReceiptsView): ListLook<ShownReceipt> => ({
  path: listPath,
  noun: 'receipts',
  zone,
  about: 'One for every run that reached a model. Private until you share it.',
  query: ownReceiptQuery,
  choices: { model: sameOptions(models) },
  columns: columnsAt(now),
  idOf: ({ run }) => receiptIdOf(run.id),
  isOpen: ({ stage }) => stage !== 'final',
  passed: passedMax,
  first: 'Every run of your keys leaves a signed receipt here.',
})

const columnsAt = (now: number): Column<ShownReceipt>[] => [
  {
    head: 'Figure',
    kind: 'unnamed',
    at: 'mark',
    cell: ({ run }) => <RosetteMark hash={toHex(run.digest)} />,
  },
  {
    head: 'Receipt',
    at: 'what',
    cell: ({ run }) => <CopyId value={receiptIdOf(run.id)} href={ownPath(receiptIdOf(run.id))} />,
  },
  { head: 'Model', at: 'who', cell: ({ run }) => run.model },
  {
    head: 'Cost',
    kind: 'number',
    at: 'cost',
    cell: ({ run }) => <Amount nusd={run.cost} as="list" />,
  },
  { head: 'State', at: 'state', cell: ({ stage }) => <StageBadge stage={stage} /> },
  {
    head: 'Seen by',
    kind: 'optional',
    at: 'state',
    cell: ({ visibility }) => <VisibilityBadge of={visibility} />,
  },
  {
    head: 'When',
    kind: 'optional',
    at: 'when',
    cell: ({ run }) => <When at={run.createdAt} now={now} />,
  },
]

/** The visibility of a receipt, in a word. */
export const VisibilityBadge = ({ of }: { of: Visibility }) =>
  of === 'private' ? (
    <span class="quiet">Private</span>
  ) : (
    <Badge tone={of === 'public' ? 'ok' : 'warn'}>{visibilityWords[of]}</Badge>
  )
