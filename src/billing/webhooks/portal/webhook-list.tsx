/** The page of all webhooks of an account. */
import type { Millis } from '../../../kernel/clock.ts'
import type { WebhookRow } from '../../../storage/db/schema/schema.ts'
import { ButtonLink } from '../../../web/ui/button.tsx'
import { List } from '../../../web/ui/paged-list.tsx'
import { PageHead } from '../../../web/ui/panel.tsx'
import type { Column } from '../../../web/ui/table.tsx'
import { When } from '../../../web/ui/when.tsx'
import {
  formatWords,
  hostOf,
  nameOf,
  newWebhookPath,
  StateBadge,
  webhookPath,
  webhooksPath,
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
  <List
    id="webhooks"
    title="Your webhooks"
    noun="webhooks"
    items={found}
    columns={columns(now)}
    href={webhooksPath}
    hash={account}
    empty={{
      title: 'No webhooks yet',
      text: 'Your server or a chat is told when a balance is low, a cap is reached or a key stops.',
      action: (
        <ButtonLink href={newWebhookPath} look="go">
          Create a webhook
        </ButtonLink>
      ),
    }}
    words={`${found.length} of 20`}
  />
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
