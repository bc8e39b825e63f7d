/** The public list of passports and the page of each. */
import type { Millis } from '../../../kernel/clock.ts'
import { toHex } from '../../../kernel/hex.ts'
import type { Page } from '../../../kernel/pagination.ts'
import type { PassportRow } from '../../../storage/db/schema/schema.ts'
import { pathWith } from '../../../web/http/query.ts'
import { Address } from '../../../web/ui/address.tsx'
import { Amount } from '../../../web/ui/amount.tsx'
import { ButtonLink } from '../../../web/ui/button.tsx'
import { Empty } from '../../../web/ui/empty.tsx'
import { ChoiceTabs } from '../../../web/ui/filters.tsx'
import { Hash, IdLink } from '../../../web/ui/hash.tsx'
import { List } from '../../../web/ui/paged-list.tsx'
import { Facts, Pad, PageHead, Panel, Split } from '../../../web/ui/panel.tsx'
import { RosetteMark } from '../../../web/ui/rosette.tsx'
import { type Column, Table } from '../../../web/ui/table.tsx'
import { dateText, When } from '../../../web/ui/when.tsx'
import { kindsWords, passportsQuery } from '../api/passport-query.ts'
import { placeOf, type Sort } from '../browse.ts'
import { passportPath } from '../passport-view.ts'
import {
  bandWords,
  countText,
  figureHash,
  kindWords,
  PassportCell,
  PassportMark,
  rateText,
} from '../portal/passport-state.tsx'
import type { Kind } from '../profile.ts'
import type { TrackRecord } from '../record.ts'
import type { StatementFile } from '../statement.ts'
import type { PublicReceipt } from '../store/public.ts'
import { PassportDocument } from './document.tsx'
import { RecordFigures, RecordPanel, StatementPanel } from './record.tsx'

export const publicPath = '/passports'

/** The list of public passports as it was asked for. */
export type PublicListView = {
  found: Page<PublicPassport>
  kind: Kind | undefined
  sort: Sort
  isFirst: boolean
}
type PublicPassport = { row: PassportRow; record: TrackRecord }

export const PassportsPage = ({ view }: { view: PublicListView }) => (
  <>
    <PageHead title="Passports">
      <p class="quiet">
        Agents, people and services with a public name, and what the log says about them.
      </p>
    </PageHead>
    <ListPanel view={view} />
    <Proves />
  </>
)

function ListPanel({ view }: { view: PublicListView }) {
  const { found, isFirst, kind } = view
  const last = found.items.at(-1)?.row
  return (
    <List
      id="passports"
      title={kind === undefined ? 'All passports' : kindsWords[kind]}
      noun="passports"
      items={found.items}
      columns={columns}
      href={pathWith(publicPath, valuesOf(view))}
      next={found.hasMore && last ? placeOf(last, view.sort) : undefined}
      isFirst={isFirst}
      hash={figureHash('passports')}
      empty={{
        title: kind === undefined ? 'No passport yet' : 'No passports of this kind',
        text: 'Any account can give an agent a public name.',
        action:
          kind === undefined ? (
            <ButtonLink href="/dashboard/passports" look="go">
              Create a passport
            </ButtonLink>
          ) : (
            <ButtonLink href={publicPath}>Show all</ButtonLink>
          ),
      }}
      aside={<Filters view={view} />}
      {...(found.hasMore ? { words: `Showing ${found.items.length}. More follow.` } : {})}
    />
  )
}

const Filters = ({ view }: { view: PublicListView }) => (
  <div class="row">
    <ChoiceTabs path={publicPath} of={passportsQuery} name="kind" values={valuesOf(view)} />
    <ChoiceTabs path={publicPath} of={passportsQuery} name="sort" values={valuesOf(view)} />
  </div>
)

const columns: readonly Column<PublicPassport>[] = [
  { head: 'Figure', kind: 'unnamed', at: 'mark', cell: ({ row }) => <PassportMark of={row} /> },
  {
    head: 'Passport',
    at: 'what',
    cell: ({ row }) => <PassportCell of={row} href={passportPath(row.handle)} />,
  },
  { head: 'Kind', at: 'who', cell: ({ row }) => kindWords[row.kind] },
  { head: 'Runs', kind: 'number', cell: ({ record }) => countText(record.runs) },
  { head: 'Succeeded', kind: 'optional-number', cell: ({ record }) => rateText(record) },
  {
    head: 'Active days',
    kind: 'optional-number',
    cell: ({ record }) => countText(record.active_days),
  },
  {
    head: 'Spent',
    kind: 'optional',
    at: 'cost',
    cell: ({ record }) => bandWords[record.spend_band],
  },
  { head: 'Since', kind: 'optional', at: 'when', cell: ({ row }) => dateText(row.createdAt) },
]

/** The list with this filter. */
const valuesOf = ({ kind, sort }: Pick<PublicListView, 'kind' | 'sort'>) => ({
  kind,
  sort: sort === 'newest' ? undefined : sort,
})

/** All that the page of one public passport shows. */
export type PublicView = {
  row: PassportRow
  record: TrackRecord
  receipts: readonly PublicReceipt[]
  statement: StatementFile | undefined
  issuedAt: Millis | undefined
  now: Millis
}

export function PassportPage({ view }: { view: PublicView }) {
  const { row, record, statement, issuedAt } = view
  return (
    <>
      <PassportDocument of={row} record={record} />
      {row.bio === '' ? null : (
        <p class="bio" dir="auto">
          {row.bio}
        </p>
      )}
      <RecordFigures record={record} />
      <Split>
        <div class="stack wide">
          <ReceiptsPanel view={view} />
          <RecordPanel record={record} />
        </div>
        <div class="stack wide">
          <AboutPanel row={row} />
          <StatementPanel handle={row.handle} statement={statement} issuedAt={issuedAt} />
        </div>
      </Split>
      <Proves />
    </>
  )
}

const AboutPanel = ({ row }: { row: PassportRow }) => (
  <Panel id="about" title="About">
    <Pad>
      {row.links.length === 0 ? null : (
        <ul class="bare outside">
          {row.links.map((link) => (
            <li>
              <a href={link} rel="nofollow noopener ugc">
                {link.replace(/^https:\/\//, '').replace(/\/$/, '')}
              </a>
            </li>
          ))}
        </ul>
      )}
      <Facts
        of={[
          ['Since', dateText(row.createdAt)],
          ['Owner', row.ownerShown ? <Address value={row.accountId} /> : 'Not shown'],
          ['Figure', <Hash value={`0x${figureHash(row.handle)}`} />],
        ]}
      />
      <div class="row">
        <ButtonLink href={`/v1${passportPath(row.handle)}?format=erc8004`} small>
          Agent registration file
        </ButtonLink>
        <ButtonLink href={`/v1${passportPath(row.handle)}?receipts=1`} small>
          As JSON
        </ButtonLink>
      </div>
    </Pad>
  </Panel>
)

const ReceiptsPanel = ({ view: { row, receipts, now } }: { view: PublicView }) => (
  <Panel id="receipts" title="Public receipts">
    {receipts.length === 0 ? (
      <Empty hash={figureHash(row.handle)} title="No public receipt">
        Its receipts are private or do not show this passport. They are still in the log.
      </Empty>
    ) : (
      <Table caption="Public receipts" columns={receiptColumns(now)} rows={receipts} />
    )}
  </Panel>
)

const receiptColumns = (now: Millis): Column<PublicReceipt>[] => [
  {
    head: 'Figure',
    kind: 'unnamed',
    at: 'mark',
    cell: ({ run }) => (run.digest ? <RosetteMark hash={toHex(run.digest)} /> : null),
  },
  {
    head: 'Receipt',
    at: 'what',
    cell: ({ share: { receiptId: id } }) => <IdLink value={id} href={`/receipts/${id}`} />,
  },
  {
    head: 'Model',
    at: 'who',
    cell: ({ share, run }) => (share.sections.includes('run') ? run.model : <Hidden />),
  },
  {
    head: 'Outcome',
    kind: 'optional',
    at: 'state',
    cell: ({ share, run }) => (share.sections.includes('run') ? run.outcome : <Hidden />),
  },
  {
    head: 'Cost',
    kind: 'number',
    at: 'cost',
    cell: ({ share, run }) =>
      share.sections.includes('charge') ? <Amount nusd={run.cost} as="list" /> : <Hidden />,
  },
  {
    head: 'When',
    at: 'when',
    cell: ({ run }) => <When at={run.finishedAt} now={now} />,
  },
]

const Hidden = () => <span class="quiet">Not shown</span>

/** The conclusions that a reader may draw, and those to avoid. */
const Proves = () => (
  <Panel id="proves" title="What a track record proves">
    <ul class="pad stack rules">
      <li>These runs ended with these outcomes, according to signed receipts in the public log.</li>
      <li>
        It counts every run of its keys from the moment they were bound, free runs too. The band of
        the total spent tells them apart.
      </li>
      <li>
        It does not prove who is behind the name, that answers are true, or that an owner did not
        run something only to have it counted.
      </li>
    </ul>
  </Panel>
)
