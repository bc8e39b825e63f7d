/** The page of what the service owes an account: how it was counted, and every statement. */
import type { LiabilitiesItem } from '../../../proof/liabilities/shapes.ts'
import { toChecksumAddress } from '../../../verify/address.ts'
import type { LiabilitiesCheck, LiabilitiesFile } from '../../../verify/liabilities.ts'
import { shownLiabilities } from '../../../verify/shown-liabilities.ts'
import { Amount } from '../../../web/ui/amount.tsx'
import { ButtonLink } from '../../../web/ui/button.tsx'
import { Empty } from '../../../web/ui/empty.tsx'
import { Icon } from '../../../web/ui/icon.tsx'
import { Facts, Pad, PageHead, Panel } from '../../../web/ui/panel.tsx'
import { Checks } from '../../../web/ui/steps.tsx'
import { type Column, Table } from '../../../web/ui/table.tsx'
import { ExactTime } from '../../../web/ui/when.tsx'

export const liabilitiesPath = '/dashboard/liabilities'
export const ownProofPath = '/api/portal/liabilities/proof'

/** The newest file of the account with the server's checks of it, and the newest statements. */
export type LiabilitiesView = {
  account: string
  statements: LiabilitiesItem[]
  own: { file: LiabilitiesFile; checks: LiabilitiesCheck[]; payload: object } | undefined
}

export const LiabilitiesPage = ({ view }: { view: LiabilitiesView }) => (
  <>
    <PageHead title="Liabilities">
      {view.own ? (
        <ButtonLink icon="download" href={ownProofPath} download>
          Save the proof
        </ButtonLink>
      ) : null}
    </PageHead>
    <OwnPanel view={view} />
    {view.statements.length > 0 ? <Statements of={view.statements} /> : null}
  </>
)

function OwnPanel({ view: { account, own } }: { view: LiabilitiesView }) {
  if (!own) {
    return (
      <Panel id="own" title="Your balance in the liabilities">
        <Empty hash={account} title="Not counted yet">
          The service signs what it owes to all accounts together at regular times. The next
          statement counts this account.
        </Empty>
      </Panel>
    )
  }
  const { statement, own: leaf } = own.file
  return (
    <Panel
      id="own"
      title="Your balance in the liabilities"
      aside={leaf ? <Amount nusd={BigInt(leaf.balance_nusd)} /> : null}
      foot={
        <span class="slot">
          <span>Checked by the server.</span>
          <span class="unseen" id="checked-here">
            Checked in your browser.
          </span>
        </span>
      }
    >
      <Pad>
        <Facts
          of={[
            ['Counted at', <ExactTime at={Number(statement.as_of)} />],
            ['Account', <code>{toChecksumAddress(account)}</code>],
            ['Total liabilities', <Amount nusd={BigInt(statement.total_nusd)} />],
            ['In the treasury', <Treasury of={statement} />],
          ]}
        />
        <p class="quiet">
          Your balance is a leaf of a tree that adds up to the total, and the total is in the public
          log. Save the proof: a copy of your own cannot be taken back. Others learn the total, not
          who has what.
        </p>
      </Pad>
      <Checks id="checks" untilHere of={shownLiabilities(own.checks)} />
      <div id="payload" hidden data-payload={JSON.stringify(own.payload)}>
        {(['ok', 'wait', 'bad'] as const).map((name) => (
          <span id={`icon-${name}`}>
            <Icon name={name} />
          </span>
        ))}
      </div>
    </Panel>
  )
}

/** The treasury as the service read it: a reader asks the chain. */
const Treasury = ({ of: { block, treasury_nusd: held } }: { of: LiabilitiesItem['statement'] }) =>
  block === '0' ? (
    <span class="quiet">Not read</span>
  ) : (
    <>
      <Amount nusd={BigInt(held)} /> <span class="quiet">at block {block}</span>
    </>
  )

const columns: Column<LiabilitiesItem>[] = [
  { head: 'Statement', cell: ({ id }) => <a href={`/liabilities/${id}`}>{id}</a> },
  { head: 'At', cell: ({ statement }) => <ExactTime at={Number(statement.as_of)} />, at: 'when' },
  {
    head: 'Liabilities',
    kind: 'number',
    cell: ({ statement }) => <Amount nusd={BigInt(statement.total_nusd)} />,
    at: 'cost',
  },
  {
    head: 'In the treasury',
    kind: 'optional-number',
    cell: ({ statement }) => <Treasury of={statement} />,
  },
]

const Statements = ({ of }: { of: readonly LiabilitiesItem[] }) => (
  <Panel id="statements" title="Statements" foot={<a href="/liabilities">All as JSON</a>}>
    <Table caption="Statements" columns={columns} rows={of} />
  </Panel>
)
