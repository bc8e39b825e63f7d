import { toHex } from '../../../kernel/hex.ts'
import { ButtonLink } from '../../../web/ui/button.tsx'
import { Hash, IdLink } from '../../../web/ui/hash.tsx'
import { Facts, Pad, Panel } from '../../../web/ui/panel.tsx'
import { Badge } from '../../../web/ui/status.tsx'
import { ExactTime } from '../../../web/ui/when.tsx'
import type { Found, Role } from '../find.ts'
import { leavesText } from './figures.tsx'

/** What a search found, or that nothing public answers: the same for what is private. */
export const FoundPanel = ({ asked, found }: { asked: string; found: readonly Found[] }) => (
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
          <strong>Nothing public answers to this.</strong> There is no such thing, or it is private.
        </p>
        <p class="quiet">
          Look for the id of a receipt, a run or an anchor, an index or a size of the log, a digest,
          a transaction, a root, a @handle or an address. You asked for: <code>{asked}</code>
        </p>
      </Pad>
    ) : (
      found.map((one) => (
        <Pad>
          <Answer of={one} />
        </Pad>
      ))
    )}
  </Panel>
)

function Answer({ of }: { of: Found }) {
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
            ['Is', roleWords[of.role]],
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
  signer: 'a key that signs the receipts of this service',
  registry: 'the contract that keeps the anchors of the log',
  sender: 'who opened the log in the registry and pays for anchors',
  treasury: 'where deposits go',
  token: 'the stablecoin that deposits are made in',
}

const Anchor = ({ row }: { row: Extract<Found, { is: 'anchor' }>['row'] }) => (
  <Facts
    of={[
      ['Anchor', <code>{row.id}</code>],
      ['State', <Badge tone={anchorTones[row.status]}>{row.status}</Badge>],
      ['Size of the log', row.size.toLocaleString('en-US')],
      ['New in it', leavesText(row.size - row.prevSize)],
      ['Root', <code>{toHex(row.root)}</code>],
      ['Transaction', row.txHash === null ? 'not sent yet' : <code>{row.txHash}</code>],
      ['Block', row.blockNumber === null ? 'none yet' : row.blockNumber.toLocaleString('en-US')],
      ['Time of the block', row.blockTime === null ? 'none yet' : <ExactTime at={row.blockTime} />],
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

const Checkpoint = ({ row }: { row: Extract<Found, { is: 'checkpoint' }>['row'] }) => (
  <Facts
    of={[
      ['Checkpoint', `The log at ${leavesText(row.size)}`],
      ['Root', <code>{toHex(row.root)}</code>],
      ['Signed', <ExactTime at={row.timestamp} />],
      ['Signature', <Hash value={toHex(row.signature)} />],
    ]}
  />
)
