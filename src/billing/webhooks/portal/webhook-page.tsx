/** The page of one webhook: its state, its deliveries, and the form that changes it. */
import type { Millis } from '../../../kernel/clock.ts'
import type { Page } from '../../../kernel/pagination.ts'
import type { WebhookRow } from '../../../storage/db/schema/schema.ts'
import { Button } from '../../../web/ui/button.tsx'
import { ActionForm, type SentForm } from '../../../web/ui/form.tsx'
import { FormPanel } from '../../../web/ui/form-panel.tsx'
import { Whole } from '../../../web/ui/hash.tsx'
import { ErrorNote, Notice } from '../../../web/ui/notice.tsx'
import { List, nextOf } from '../../../web/ui/paged-list.tsx'
import { Facts, Pad, PageHead, Panel, Split } from '../../../web/ui/panel.tsx'
import { SideLink, SidePanel } from '../../../web/ui/side-panel.tsx'
import type { Column } from '../../../web/ui/table.tsx'
import { When } from '../../../web/ui/when.tsx'
import type { ListedDelivery } from '../store.ts'
import { eventTypes, toDraft } from './webhook-fields.ts'
import { webhookFields } from './webhook-form.tsx'
import {
  DeliveryBadge,
  deliveryPath,
  formatWords,
  nameOf,
  StateBadge,
  webhookAction,
  webhookPath,
  webhooksPath,
} from './webhook-state.tsx'

export type WebhookView = {
  row: WebhookRow
  deliveries: Page<ListedDelivery>
  /** Whether this is the first page of them. */
  isFirst: boolean
  now: Millis
  /** Why the last action was refused. */
  refused?: string
  /** The form as sent with its error. */
  form?: SentForm | undefined
}

export const Path = ({ row }: { row?: WebhookRow }) => (
  <nav class="path" aria-label="Above this page">
    <a href={webhooksPath}>Webhooks</a>
    {row ? (
      <>
        {' / '}
        <a href={webhookPath(row.id)}>{nameOf(row)}</a>
      </>
    ) : null}
  </nav>
)

/** The part of the page that htmx swaps as a whole. */
export function WebhookPage({ view }: { view: WebhookView }) {
  const { row, form } = view
  return (
    <div class="stack wide" id="webhook">
      <Path />
      <PageHead title={<span dir="auto">{nameOf(row)}</span>}>
        <div class="row">
          <StateBadge of={row} />
          <Actions row={row} />
        </div>
      </PageHead>
      {view.refused ? <ErrorNote what="Nothing was sent." charged={view.refused} /> : null}
      <Trouble row={row} />
      <Split>
        <DeliveriesPanel view={view} />
        <FactsPanel view={view} />
      </Split>
      <FormPanel
        id="change"
        title="Change this webhook"
        acts={webhookAction(row.id)}
        action={webhookAction(row.id)}
        target="#webhook"
        of={webhookFields}
        sent={form ?? { draft: toDraft(row) }}
        what="Nothing was changed."
        button="Save changes"
        look="go"
      />
      <SidePanel />
    </div>
  )
}

const Actions = ({ row }: { row: WebhookRow }) => (
  <>
    {row.disabledAt === null ? (
      <ActionForm action={webhookAction(row.id, 'test')} target="#webhook">
        <Button>Send a test</Button>
      </ActionForm>
    ) : null}
    <ActionForm action={webhookAction(row.id)} target="#webhook">
      <input type="hidden" name="enabled" value={row.disabledAt === null ? 'false' : 'true'} />
      <Button>{row.disabledAt === null ? 'Disable' : 'Enable'}</Button>
    </ActionForm>
    <SideLink href={`${webhookPath(row.id)}/rotate`}>Rotate secret…</SideLink>
    <SideLink href={`${webhookPath(row.id)}/remove`} look="bad">
      Delete…
    </SideLink>
  </>
)

const Trouble = ({ row }: { row: WebhookRow }) => (
  <>
    {row.disabledReason === 'failing' ? (
      <Notice tone="bad" title="Disabled, because nothing arrived for three days.">
        Enable it when the server answers again. Events of the time between are not sent.
      </Notice>
    ) : null}
    {row.disabledReason === 'leak' ? (
      <Notice tone="bad" title="Disabled, because a leaked key chose its address.">
        Enable it if you know the address.
      </Notice>
    ) : null}
    {row.dropped === 0 ? null : (
      <Notice tone="warn" title={`${row.dropped.toLocaleString('en-US')} events were dropped.`}>
        More than 10,000 were waiting for this server.
      </Notice>
    )}
  </>
)

const FactsPanel = ({ view: { row, now } }: { view: WebhookView }) => (
  <Panel id="facts" title="Details">
    <Pad>
      <Facts
        of={[
          [
            'URL',
            <code>
              <Whole value={row.url} />
            </code>,
          ],
          ['Format', formatWords[row.format]],
          ['Events', `${row.events.length} of ${eventTypes.length} types, chosen below`],
          ['Created', <When at={row.createdAt} now={now} />],
          ...(row.oldUntil !== null && row.oldUntil > now
            ? [['Old secret signs', <When at={row.oldUntil} now={now} />] as const]
            : []),
        ]}
      />
    </Pad>
  </Panel>
)

/** The deliveries, newest first; the list reloads itself while one is on its way. */
export function DeliveriesPanel({ view }: { view: WebhookView }) {
  const { row, deliveries, isFirst, now } = view
  const isMoving = isFirst && deliveries.items.some((one) => isSoon(one, now))
  return (
    <div
      id="deliveries"
      hx-get={isMoving ? webhookAction(row.id, 'deliveries') : undefined}
      hx-trigger={isMoving ? 'every 2s' : undefined}
      hx-swap={isMoving ? 'outerMorph' : undefined}
    >
      <List
        id="sent"
        title="Deliveries"
        noun="deliveries"
        items={deliveries.items}
        columns={columns(row, now)}
        href={webhookPath(row.id)}
        next={nextOf(deliveries)}
        isFirst={isFirst}
        hash={row.accountId}
        empty={{
          title: 'Nothing was sent yet',
          text: 'A test shows whether your server takes events.',
        }}
        fold="late"
        {...(deliveries.hasMore ? {} : { words: 'Ended ones are kept for a week.' })}
      />
    </div>
  )
}

/** A delivery due within this time, in ms, counts as on its way. */
const soonMs = 10_000

export const isSoon = ({ status, nextAt }: ListedDelivery, now: Millis): boolean =>
  status === 'pending' && nextAt !== null && nextAt - now < soonMs

const columns = (row: WebhookRow, now: Millis): Column<ListedDelivery>[] => [
  {
    head: 'Event',
    at: 'what',
    cell: ({ id, type }) => (
      <a class="to" href={deliveryPath(row.id, id)}>
        <code>{type}</code>
      </a>
    ),
  },
  { head: 'Status', at: 'state', cell: (one) => <DeliveryBadge of={one} /> },
  { head: 'Attempts', kind: 'optional-number', at: 'more', cell: ({ attempts }) => attempts },
  {
    head: 'Duration',
    kind: 'number',
    at: 'cost',
    cell: ({ durationMs }) => (durationMs === null ? null : `${durationMs} ms`),
  },
  {
    head: 'Time',
    at: 'when',
    cell: ({ triedAt, since }) => <When at={triedAt ?? since} now={now} />,
  },
]
