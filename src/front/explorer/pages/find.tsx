/** The results of an explorer search. */
import { toHex } from '../../../kernel/hex.ts'
import { ButtonLink } from '../../../web/ui/button.tsx'
import { Hash, IdLink } from '../../../web/ui/hash.tsx'
import { Facts, Pad, Panel } from '../../../web/ui/panel.tsx'
import { Badge } from '../../../web/ui/status.tsx'
import { ExactTime } from '../../../web/ui/when.tsx'
import { foundMax, type Role, type SearchResult } from '../find.ts'
import { leavesText } from './figures.tsx'

export const FoundPanel = ({ asked, found }: { asked: string; found: readonly SearchResult[] }) => (
  <Panel
    id="found"
    title="Found"
    aside={
      <ButtonLink href="/explorer" small>
        Clear
      </ButtonLink>
    }
  >
    {found.length === 0 ? (
      <Pad>
        <p>
          <strong>No public match.</strong> It does not exist, or it is private.
        </p>
        <p class="quiet">
          Search for the id of a receipt, run or anchor, a log index or size, a digest, a
          transaction, a root, a @handle or an address. The first four characters behind “_” or “0x”
          will do. You searched for: <code>{asked}</code>
        </p>
      </Pad>
    ) : (
      found.map((one) => (
        <div class="pad">
          <Answer of={one} />
        </div>
      ))
    )}
    {found.length >= foundMax ? (
      <Pad>
        <p class="quiet">There may be more. Type more characters to narrow the search.</p>
      </Pad>
    ) : null}
  </Panel>
)

function Answer({ of }: { of: SearchResult }) {
  switch (of.is) {
    case 'receipt':
      return <Facts of={[['Receipt', <IdLink value={of.id} href={`/receipts/${of.id}`} />]]} />
    case 'passport':
      return (
        <Facts
          of={[
            ['Passport', <a href={`/passports/${of.handle}`}>@{of.handle}</a>],
            ['Name', of.displayName],
          ]}
        />
      )
    case 'address':
      return (
        <Facts
          of={[
            ['Address', <code>{of.address}</code>],
            ['Role', roleWords[of.role]],
          ]}
        />
      )
    case 'anchor':
      return <Anchor row={of.row} />
    case 'checkpoint':
      return <Checkpoint row={of.row} />
  }
}

const roleWords: Record<Role, string> = {
  signer: 'signs the receipts of this service',
  registry: 'the contract that holds the anchors of the log',
  sender: 'opened the log in the registry and pays for anchors',
  treasury: 'receives deposits',
  token: 'the stablecoin of deposits',
}

const Anchor = ({ row }: { row: Extract<SearchResult, { is: 'anchor' }>['row'] }) => (
  <Facts
    of={[
      ['Anchor', <code>{row.id}</code>],
      ['State', <Badge tone={anchorTones[row.status]}>{row.status}</Badge>],
      ['Log size', row.size.toLocaleString('en-US')],
      ['New leaves', leavesText(row.size - row.prevSize)],
      ['Root', <code>{toHex(row.root)}</code>],
      ['Transaction', row.txHash === null ? 'not sent yet' : <code>{row.txHash}</code>],
      ['Block', row.blockNumber === null ? 'none yet' : row.blockNumber.toLocaleString('en-US')],
      ['Block time', row.blockTime === null ? 'none yet' : <ExactTime at={row.blockTime} />],
    ]}
  />
)

const anchorTones = {
  pending: 'wait',
  submitted: 'wait',
  confirmed: 'ok',
  final: 'ok',
  superseded: 'warn',
  failed: 'bad',
} as const

const Checkpoint = ({ row }: { row: Extract<SearchResult, { is: 'checkpoint' }>['row'] }) => (
  <Facts
    of={[
      ['Checkpoint', `The log at ${leavesText(row.size)}`],
      ['Root', <code>{toHex(row.root)}</code>],
      ['Signed', <ExactTime at={row.timestamp} />],
      ['Signature', <Hash value={toHex(row.signature)} />],
    ]}
  />
)
