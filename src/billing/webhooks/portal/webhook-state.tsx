/** Paths and words of webhooks on their pages. */
import type { WebhookRow } from '../../../storage/db/schema/schema.ts'
import { Badge } from '../../../web/ui/status.tsx'
import type { ListedDelivery } from '../store.ts'

export const webhooksPath = '/dashboard/webhooks'
export const newWebhookPath = `${webhooksPath}/new`
export const webhookPath = (id: string): string => `${webhooksPath}/${id}`
export const webhookAction = (id: string, verb = ''): string =>
  `/api/portal/webhooks/${id}${verb && `/${verb}`}`

export const deliveryPath = (id: string, delivery: string): string =>
  `${webhookPath(id)}/deliveries/${delivery}`

export const formatWords: Record<WebhookRow['format'], string> = {
  standard: 'Standard Webhooks (JSON)',
  slack: 'Slack message',
  discord: 'Discord message',
}

/** The name of a webhook: its description, else its host. */
export const nameOf = ({ description, url }: WebhookRow): string => description || hostOf(url)

export const hostOf = (url: string): string => URL.parse(url)?.host ?? url

export const StateBadge = ({ of }: { of: WebhookRow }) => {
  if (of.disabledReason === 'failing') return <Badge tone="bad">Disabled: failing</Badge>
  if (of.disabledReason === 'leak') return <Badge tone="bad">Disabled: leak</Badge>
  if (of.disabledAt !== null) return <Badge>Disabled</Badge>
  return of.failingSince === null ? (
    <Badge tone="ok">Enabled</Badge>
  ) : (
    <Badge tone="warn">Failing</Badge>
  )
}

/** The state of a delivery, with the answer to its last attempt. */
export function DeliveryBadge({ of: { status, attempts, httpStatus, error } }: DeliveryProps) {
  const answer = answerText(httpStatus, error)
  if (status === 'delivered') return <Badge tone="ok">Delivered {answer}</Badge>
  if (status === 'failed') return <Badge tone="bad">Failed {answer}</Badge>
  return attempts === 0 ? (
    <Badge tone="wait">Waiting</Badge>
  ) : (
    <Badge tone="warn">Retrying {answer}</Badge>
  )
}

/** The answer to an attempt, or why there was none. */
export const answerText = (status: number | null, error: string | null): string =>
  status === null ? (error === null ? '' : (errorWords[error] ?? error)) : String(status)

type DeliveryProps = { of: ListedDelivery }

const errorWords: Readonly<Record<string, string>> = {
  forbidden_url: 'address not allowed',
  forbidden_address: 'address not allowed',
  unknown_host: 'unknown host',
  unreachable: 'unreachable',
  timeout: 'timeout',
  redirect: 'redirect',
  secret_unreadable: 'rotate the secret',
}
