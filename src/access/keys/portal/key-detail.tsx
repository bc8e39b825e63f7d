/** The page of one key. */
import type { KeyRow } from '../../../storage/db/schema/schema.ts'
import { Button, ButtonLink } from '../../../web/ui/button.tsx'
import { ActionForm } from '../../../web/ui/form.tsx'
import { Notice } from '../../../web/ui/notice.tsx'
import { List } from '../../../web/ui/paged-list.tsx'
import { PageHead, Split } from '../../../web/ui/panel.tsx'
import { Rosette } from '../../../web/ui/rosette.tsx'
import { SideLink, SidePanel } from '../../../web/ui/side-panel.tsx'
import { depthOf, maxDepth, statusOf } from '../key.ts'
import { nextBlock } from '../key-view.ts'
import type { ShownKey } from '../shown-key.ts'
import { CapPanel, ChainPanel } from './cap.tsx'
import { EditPanel } from './key-edit.tsx'
import { FactsPanel, RightsPanel } from './key-facts.tsx'
import {
  actionPath,
  type DetailView,
  keyColumns,
  keyPath,
  keysPath,
  newKeyPath,
  StateBadge,
} from './key-state.tsx'

/** Also the fragment that htmx swaps as a whole. */
export function KeyPage({ view }: { view: DetailView }) {
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
      {view.isAgain ? <Again /> : null}
      <Blocked view={view} />
      <LeftPausedNotice view={view} />
      <Split>
        <div class="stack wide">
          <CapPanel view={view} />
          <ChainPanel view={view} />
        </div>
        <FactsPanel view={view} />
      </Split>
      <RightsPanel view={view} />
      <BelowPanel view={view} />
      {statusOf(chain, now) === 'revoked' ? null : <EditPanel view={view} />}
      <SidePanel />
    </div>
  )
}

export const KeyTitle = ({ of: key }: { of: KeyRow }) => (
  <span class="keyname">
    <Rosette hash={key.fingerprint} />
    <span dir="auto">{key.name}</span>
  </span>
)

/** The keys above, the root first. */
export const Path = ({ chain }: { chain: ShownKey['chain'] }) => (
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
      <SideLink href={`${keyPath(id)}/rotate`}>Rotate…{hidden}</SideLink>
      <SideLink href={`${keyPath(id)}/revoke`} look="bad">
        Revoke…{hidden}
      </SideLink>
    </>
  )
}

const Again = () => (
  <Notice tone="warn" title="This form was already sent.">
    The secret was shown once and is not stored. If you do not have it, rotate the key.
  </Notice>
)

/** Why calls are refused now. An expired or revoked key is marked by its state. */
function Blocked({ view: { shown, windows, account, now } }: { view: DetailView }) {
  const status = statusOf(shown.chain, now)
  if (status === 'expired' || status === 'revoked') return null
  const block = nextBlock({ account, chain: shown.chain, windows }, now)
  const words = block && blockWords[block.type]
  if (!words) return null
  return (
    <Notice tone="warn" title="Calls with this key are refused now.">
      {words}
    </Notice>
  )
}

/** Lists the keys and webhooks that a leak of this key stopped: its owner looks at each. */
function LeftPausedNotice({ view: { leftPaused } }: { view: DetailView }) {
  if (leftPaused.length === 0) return null
  return (
    <Notice tone="warn" title="A secret leaked, and what was made with it is still stopped.">
      <p>Revoke what you do not know. Rotate and resume a key by itself; enable a webhook.</p>
      <ul>
        {leftPaused.map(({ object, id, name }) => (
          <li>
            {object === 'key' ? 'Key ' : 'Webhook to '}
            <a href={object === 'key' ? keyPath(id) : `/dashboard/webhooks/${id}`}>{name}</a>
          </li>
        ))}
      </ul>
    </Notice>
  )
}

const blockWords: Readonly<Record<string, string>> = {
  key_paused: 'This key or a key above it is paused. Resume it to continue.',
  cap_exceeded:
    'The cap of this key or of a key above it is used up. Raise the cap or wait for its reset.',
  insufficient_balance: 'Your balance is used up. Add funds to continue.',
}

function BelowPanel({ view: { shown, below, isFirst, now } }: { view: DetailView }) {
  const { key, chain } = shown
  const mayHang = depthOf(key) < maxDepth && statusOf(chain, now) === 'usable'
  const add = mayHang ? (
    <ButtonLink href={`${newKeyPath}?parent_id=${key.id}`} small icon="plus">
      Create a key below
    </ButtonLink>
  ) : null
  if (below.items.length === 0 && isFirst) {
    return mayHang ? <p class="row quiet">No keys below this one. {add}</p> : null
  }
  return (
    <List
      id="below"
      title="Keys below"
      noun="keys"
      items={below.items}
      columns={keyColumns(now, 'list')}
      href={`${keyPath(key.id)}#below`}
      next={below.hasMore ? below.items.at(-1)?.key.id : undefined}
      isFirst={isFirst}
      hash={key.accountId}
      aside={add}
    />
  )
}
