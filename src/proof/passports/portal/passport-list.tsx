/** The list of an account's passports. */
import type { Page } from '../../../kernel/pagination.ts'
import type { Refusal } from '../../../kernel/refusal.ts'
import { ButtonLink } from '../../../web/ui/button.tsx'
import { Empty } from '../../../web/ui/empty.tsx'
import { PageHead, Panel, Split } from '../../../web/ui/panel.tsx'
import { type Column, Pager, Table } from '../../../web/ui/table.tsx'
import { maxPassports } from '../passport.ts'
import type { TrackRecord } from '../record.ts'
import type { Standing } from '../store/standing.ts'
import { CreatePanel } from './passport-form.tsx'
import {
  countText,
  kindWords,
  ownPassportPath,
  ownPassportsPath,
  PassportCell,
  PassportMark,
  rateText,
  StatusBadge,
} from './passport-state.tsx'
import type { Draft } from './read-body.ts'

/** The page of all passports of an account. */
export type OwnListView = {
  account: string
  found: Page<Listed>
  /** Whether these are the newest. */
  isFirst: boolean
  draft: Draft
  refusal?: Refusal | undefined
}

/** A passport in the list of its owner. */
export type Listed = { standing: Standing; record: TrackRecord; keys: number }

export const OwnListPage = ({ view }: { view: OwnListView }) => (
  <>
    <PageHead title="Passports">
      <p class="quiet">A public name for an agent, with a record that the log proves.</p>
    </PageHead>
    <OwnListPanel view={view} />
    <Split>
      <CreatePanel view={view} />
      <Rules />
    </Split>
  </>
)

/** The list alone: what htmx puts in its place. */
export function OwnListPanel({ view: { account, found, isFirst } }: { view: OwnListView }) {
  const last = found.items.at(-1)?.standing.row.id
  const older = found.hasMore && last ? `${ownPassportsPath}?after=${last}` : undefined
  const isBare = found.items.length === 0 && isFirst
  return (
    <Panel
      id="passports"
      title="Your passports"
      foot={
        isBare ? null : (
          <Pager older={older} newest={isFirst ? undefined : ownPassportsPath}>
            {older === undefined ? 'End of list.' : 'Older passports follow.'}
          </Pager>
        )
      }
    >
      {found.items.length === 0 ? (
        <Empty
          hash={account}
          title={isFirst ? 'No passport yet' : 'No older passports'}
          action={
            <ButtonLink href={isFirst ? '#create' : ownPassportsPath} look="go">
              {isFirst ? 'Create a passport' : 'Show the newest'}
            </ButtonLink>
          }
        >
          {isFirst
            ? 'Give an agent a name, bind its key, and every receipt from then on counts for it.'
            : 'The list ends here.'}
        </Empty>
      ) : (
        <Table caption="Your passports" columns={columns} rows={found.items} />
      )}
    </Panel>
  )
}

const columns: readonly Column<Listed>[] = [
  {
    head: 'Figure',
    kind: 'unnamed',
    at: 'mark',
    cell: ({ standing: { row } }) => <PassportMark of={row} />,
  },
  {
    head: 'Passport',
    at: 'what',
    cell: ({ standing: { row } }) => <PassportCell of={row} href={ownPassportPath(row.handle)} />,
  },
  {
    head: 'State',
    at: 'state',
    cell: ({ standing: { row } }) => <StatusBadge status={row.status} />,
  },
  { head: 'Kind', kind: 'optional', cell: ({ standing: { row } }) => kindWords[row.kind] },
  { head: 'Keys', kind: 'number', cell: ({ keys }) => countText(keys) },
  { head: 'Runs', kind: 'number', cell: ({ record }) => countText(record.runs) },
  { head: 'Succeeded', kind: 'optional-number', cell: ({ record }) => rateText(record) },
]

const Rules = () => (
  <Panel id="rules" title="What a passport is">
    <ul class="pad stack rules">
      <li>Its record counts logged receipts of its keys, from the moment each key was bound.</li>
      <li>Moving a key to another passport does not move its history.</li>
      <li>Your wallet, keys and receipts stay hidden unless you show them.</li>
      <li>A handle is never reused, not even a retired one.</li>
      <li>You can have {maxPassports}, including retired ones.</li>
    </ul>
  </Panel>
)
