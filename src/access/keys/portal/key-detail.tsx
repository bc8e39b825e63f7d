import type { Refusal } from '../../../kernel/refusal.ts'
import type { KeyRow } from '../../../storage/db/schema.ts'
import { Button, ButtonLink } from '../../../web/ui/button.tsx'
import { ActionForm } from '../../../web/ui/form.tsx'
import type { Child } from '../../../web/ui/jsx-runtime.ts'
import { Notice } from '../../../web/ui/notice.tsx'
import { PageHead, Panel, Split } from '../../../web/ui/panel.tsx'
import { Rosette } from '../../../web/ui/rosette.tsx'
import { Pager, Table } from '../../../web/ui/table.tsx'
import { depthOf, maxDepth, statusOf } from '../key.ts'
import type { KeyDetail } from '../key-detail.ts'
import { nextBlock } from '../key-view.ts'
import type { ShownKey } from '../shown-key.ts'
import { CapPanel, ChainPanel } from './cap.tsx'
import { EditPanel } from './key-edit.tsx'
import { FactsPanel } from './key-facts.tsx'
import type { Draft } from './key-form.ts'
import { actionPath, keyColumns, keyPath, keysPath, StateBadge } from './key-state.tsx'

/** All that the page of one key shows. */
export type DetailView = KeyDetail & {
  /** The edit form as it was sent, and why that was refused. */
  draft?: Draft | undefined
  refusal?: Refusal | undefined
  /** The form of this key was sent once more: there is no second secret to show. */
  isAgain?: boolean | undefined
}

/** The page of one key; htmx puts it as a whole in its own place. */
export function KeyPage({ view, reveal }: { view: DetailView; reveal?: Child }) {
  const { shown, now } = view
  const { key, chain } = shown
  return (
    <div class="stack wide" id="key">
      <Path chain={chain} />
      <PageHead title={<KeyTitle of={key} />}>
        <div class="row">
          <StateBadge shown={shown} now={now} />
          {key.revokedAt === null ? <Actions view={view} /> : null}
        </div>
      </PageHead>
      {reveal}
      {view.isAgain && !reveal ? <Again /> : null}
      <Blocked view={view} />
      <Split>
        <div class="stack wide">
          <CapPanel view={view} />
          <ChainPanel view={view} />
        </div>
        <FactsPanel view={view} />
      </Split>
      <BelowPanel view={view} />
      {statusOf(chain, now) === 'revoked' ? null : <EditPanel view={view} />}
    </div>
  )
}

const KeyTitle = ({ of: key }: { of: KeyRow }) => (
  <span class="keyname">
    <Rosette hash={key.fingerprint} />
    <span dir="auto">{key.name}</span>
  </span>
)

/** The keys above, the root first. */
const Path = ({ chain }: { chain: ShownKey['chain'] }) => (
  <nav class="path" aria-label="Above this key">
    <a href={keysPath}>Keys</a>
    {chain
      .slice(1)
      .reverse()
      .map((key) => (
        <>
          {' / '}
          <a href={keyPath(key.id)}>{key.name}</a>
        </>
      ))}
  </nav>
)

function Actions({ view: { shown } }: { view: DetailView }) {
  const { id, pausedAt, name } = shown.key
  const hidden = <span class="vh"> {name}</span>
  return (
    <>
      <ActionForm action={actionPath(id, pausedAt === null ? 'pause' : 'resume')} target="#key">
        <Button>
          {pausedAt === null ? 'Pause' : 'Resume'}
          {hidden}
        </Button>
      </ActionForm>
      <ButtonLink href={`${keyPath(id)}/rotate`}>Rotate…{hidden}</ButtonLink>
      <ButtonLink href={`${keyPath(id)}/revoke`} look="bad">
        Revoke…{hidden}
      </ButtonLink>
    </>
  )
}

const Again = () => (
  <Notice tone="warn" title="This was sent before, and done once.">
    The secret was shown then, and is nowhere kept. If you do not have it, rotate the key.
  </Notice>
)

/** What would refuse a call now, while it is not expired or revoked, which its state says. */
function Blocked({ view: { shown, windows, account, now } }: { view: DetailView }) {
  const status = statusOf(shown.chain, now)
  if (status === 'expired' || status === 'revoked') return null
  const block = nextBlock(shown.chain, windows, account, now)
  const words = block && blockWords[block.type]
  if (!words) return null
  return (
    <Notice tone="warn" title="Calls with this key are refused now.">
      {words}
    </Notice>
  )
}

const blockWords: Readonly<Record<string, string>> = {
  key_paused: 'It is paused, or a key above it is. Resume it to go on.',
  cap_exceeded: 'Its cap is used up, or that of a key above it. Raise the cap or wait.',
  insufficient_balance: 'Nothing is left of your balance.',
}

function BelowPanel({ view: { shown, below, isFirst, now } }: { view: DetailView }) {
  const { key, chain } = shown
  const mayHang = depthOf(key) < maxDepth && statusOf(chain, now) === 'usable'
  const last = below.items.at(-1)?.key.id
  const add = mayHang ? (
    <ButtonLink href={`${keysPath}?parent_id=${key.id}#create`} small icon="plus">
      Make one below
    </ButtonLink>
  ) : null
  if (below.items.length === 0 && isFirst) {
    return mayHang ? <p class="row quiet">There are no keys below this one. {add}</p> : null
  }
  return (
    <Panel
      id="below"
      title="Keys below"
      aside={add}
      foot={
        <Pager
          older={below.hasMore && last ? `${keyPath(key.id)}?after=${last}#below` : undefined}
          newest={isFirst ? undefined : `${keyPath(key.id)}#below`}
        >
          {below.hasMore ? 'Older keys follow.' : 'End of list'}
        </Pager>
      }
    >
      <Table
        caption={`Keys below ${key.name}`}
        columns={keyColumns(now, 'list')}
        rows={below.items}
      />
    </Panel>
  )
}
