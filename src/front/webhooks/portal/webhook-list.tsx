/** The page of all webhooks of an account. */
import type { Millis } from '../../../kernel/clock.ts'
import type { WebhookRow } from '../../../storage/db/schema.ts'
import { ButtonLink } from '../../../web/ui/button.tsx'
import { Empty } from '../../../web/ui/empty.tsx'
import { PageHead, Panel } from '../../../web/ui/panel.tsx'
import { type Column, Table } from '../../../web/ui/table.tsx'
import { When } from '../../../web/ui/when.tsx'
import {
  formatWords,
  hostOf,
  nameOf,
  newWebhookPath,
  StateBadge,
  webhookPath,
} from './webhook-state.tsx'

export type ListView = { account: string; found: readonly WebhookRow[]; now: Millis }

export const WebhooksPage = ({ view }: { view: ListView }) => (
  <>
    <PageHead title="Webhooks">
      {view.found.length === 0 ? null : (
        <ButtonLink href={newWebhookPath} look="go" icon="plus">
          New webhook
        </ButtonLink>
      )}
    </PageHead>
    <WebhooksPanel view={view} />
  </>
)

/** The part of the page that htmx swaps. */
export const WebhooksPanel = ({ view: { account, found, now } }: { view: ListView }) => (
  <Panel
    id="webhooks"
    title="Your webhooks"
    foot={found.length === 0 ? null : `${found.length} of 20`}
  >
    {found.length === 0 ? (
      <Empty
        hash={account}
        title="No webhooks yet"
        action={
          <ButtonLink href={newWebhookPath} look="go">
            Create a webhook
          </ButtonLink>
        }
      >
        Your server or a chat is told when a balance is low, a cap is reached or a key stops.
      </Empty>
    ) : (
      <Table caption="Webhooks" columns={columns(now)} rows={found} />
    )}
  </Panel>
)

const columns = (now: Millis): Column<WebhookRow>[] => [
  {
    head: 'Webhook',
    at: 'what',
    cell: (row) => (
      <a href={webhookPath(row.id)} dir="auto">
        {nameOf(row)}
      </a>
    ),
  },
  { head: 'Host', kind: 'optional', cell: ({ url }) => <code>{hostOf(url)}</code> },
  { head: 'State', at: 'state', cell: (row) => <StateBadge of={row} /> },
  { head: 'Format', kind: 'spare', cell: ({ format }) => formatWords[format] },
  { head: 'Events', kind: 'number', at: 'more', cell: ({ events }) => events.length },
  { head: 'Created', at: 'when', cell: ({ createdAt }) => <When at={createdAt} now={now} /> },
]
