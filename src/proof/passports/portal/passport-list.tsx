/** The list of an account's passports. */
import type { Page } from '../../../kernel/pagination.ts'
import type { Refusal } from '../../../kernel/refusal.ts'
import type { Draft } from '../../../web/http/fields.ts'
import { ButtonLink } from '../../../web/ui/button.tsx'
import { List } from '../../../web/ui/paged-list.tsx'
import { PageHead, Panel, Split } from '../../../web/ui/panel.tsx'
import type { Column } from '../../../web/ui/table.tsx'
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

/** The page of all passports of an account. */
export type OwnListView = {
  account: string
  found: Page<PassportListItem>
  /** Whether these are the newest. */
  isFirst: boolean
  draft: Draft
  refusal?: Refusal | undefined
}

/** A passport in the list of its owner. */
export type PassportListItem = { standing: Standing; record: TrackRecord; keys: number }

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
export const OwnListPanel = ({ view: { account, found, isFirst } }: { view: OwnListView }) => (
  <List
    id="passports"
    title="Your passports"
    noun="passports"
    items={found.items}
    columns={columns}
    href={ownPassportsPath}
    next={found.hasMore ? found.items.at(-1)?.standing.row.id : undefined}
    isFirst={isFirst}
    hash={account}
    empty={{
      title: 'No passport yet',
      text: 'Give an agent a name, bind its key, and every receipt from then on counts for it.',
      action: (
        <ButtonLink href="#create" look="go">
          Create a passport
        </ButtonLink>
      ),
    }}
  />
)

const columns: readonly Column<PassportListItem>[] = [
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
