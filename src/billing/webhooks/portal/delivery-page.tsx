/** The page of one delivery: its stored event, and what each attempt was answered. */
import type { Millis } from '../../../kernel/clock.ts'
import type { WebhookRow } from '../../../storage/db/schema/schema.ts'
import type { DeliveryTarget, DeliveryTry } from '../../../storage/db/schema/schema-outbox.ts'
import { Button } from '../../../web/ui/button.tsx'
import { Code } from '../../../web/ui/copy-box.tsx'
import { ActionForm } from '../../../web/ui/form.tsx'
import { Id, Whole } from '../../../web/ui/hash.tsx'
import { ErrorNote } from '../../../web/ui/notice.tsx'
import { List } from '../../../web/ui/paged-list.tsx'
import { Facts, PageHead, Panel, Split } from '../../../web/ui/panel.tsx'
import { Badge } from '../../../web/ui/status.tsx'
import type { Column } from '../../../web/ui/table.tsx'
import { When } from '../../../web/ui/when.tsx'
import { makeMessages } from '../message.ts'
import type { ToldDelivery } from '../store.ts'
import { isDelivered } from '../webhook.ts'
import { headersOf, targetOf } from '../webhook-view.ts'
import { isSoon, Path } from './webhook-page.tsx'
import {
  answerText,
  DeliveryBadge,
  deliveryPath,
  formatWords,
  webhookAction,
} from './webhook-state.tsx'

export type DeliveryView = {
  row: WebhookRow
  of: ToldDelivery
  now: Millis
  /** The version of this program, which the request names. */
  version: string
  /** Why it was not sent again. */
  refused?: string
}

/** The part of the page that htmx swaps; it reloads itself while an attempt is about to be made. */
export function DeliveryPage({ view }: { view: DeliveryView }) {
  const { row, now, version } = view
  const { delivery, event } = view.of
  const target = targetOf(view.of, row, version)
  const wasSent = delivery.tries.some(({ to }) => to !== null)
  const action = webhookAction(row.id, `deliveries/${delivery.id}`)
  const isMoving = isSoon(delivery, now)
  return (
    <div
      class="stack wide"
      id="delivery"
      hx-get={isMoving ? action : undefined}
      hx-trigger={isMoving ? 'every 2s' : undefined}
      hx-swap={isMoving ? 'outerMorph' : undefined}
    >
      <Path row={row} />
      <PageHead title={delivery.type}>
        <div class="row">
          <DeliveryBadge of={delivery} />
          {row.disabledAt !== null || delivery.status === 'pending' ? null : (
            <ActionForm action={`${action}/redeliver`} target="#delivery">
              <Button>Send again</Button>
            </ActionForm>
          )}
        </div>
      </PageHead>
      {view.refused ? <ErrorNote what="Nothing was sent." charged={view.refused} /> : null}
      <Split>
        <div class="stack wide">
          <Attempts view={view} />
          <PayloadPanel view={view} target={target} wasSent={wasSent} />
        </div>
        <div class="stack wide">
          <Panel id="facts" title="Details">
            <Facts
              of={[
                ['Event', <Id value={event.id} />],
                ['Happened', <When at={event.at} now={now} />],
                ...(delivery.nextAt === null
                  ? []
                  : [['Next attempt', <When at={nextOf(delivery)} now={now} />] as const]),
                ['Delivery', <Id value={delivery.id} />],
              ]}
            />
          </Panel>
          <RequestPanel view={view} target={target} wasSent={wasSent} />
        </div>
      </Split>
    </div>
  )
}

type SentProps = { view: DeliveryView; target: DeliveryTarget; wasSent: boolean }

const PayloadPanel = ({ view: { of }, target, wasSent }: SentProps) => (
  <Panel
    id="payload"
    title="Payload"
    aside={<p>{formatWords[target.format]}</p>}
    foot={
      <span>
        Made from the stored event
        {wasSent ? ', in the format of the last attempt. The body itself is not kept.' : '.'}
      </span>
    }
  >
    <Code label="The payload" text={readable(makeMessages()(of.event, target.format))} wrap />
  </Panel>
)

const RequestPanel = ({ view: { row, of }, target, wasSent }: SentProps) => (
  <Panel id="request" title={wasSent ? 'Last request' : 'Next request'}>
    <Facts
      of={[
        [
          wasSent ? 'POST to' : 'POST',
          <code>
            <Whole value={wasSent ? target.host : row.url} />
          </code>,
        ],
        ...Object.entries(headersOf(of.event, target.agent)).map(
          ([name, value]) => [name, <code>{value}</code>] as const,
        ),
        ['webhook-timestamp', 'the second of the attempt'],
        ['webhook-signature', 'v1, by the secret'],
      ]}
    />
  </Panel>
)

/** Urgent ones are due before they are there. */
const nextOf = ({ nextAt, since }: ToldDelivery['delivery']): Millis => Math.max(nextAt ?? 0, since)

function Attempts({ view: { row, of, now } }: { view: DeliveryView }) {
  const { delivery } = of
  const kept = delivery.tries.length
  const { attempts } = delivery
  return (
    <List
      id="attempts"
      title="Attempts"
      noun="attempts"
      items={delivery.tries.toReversed()}
      columns={columns(now)}
      fold="late"
      href={deliveryPath(row.id, delivery.id)}
      hash={row.accountId}
      empty={{
        title: 'Not sent yet',
        text: delivery.nextAt === null ? behindText(delivery.status) : 'It is sent in a moment.',
      }}
      {...(attempts > kept ? { words: `The last ${kept} of ${attempts}.` } : {})}
    />
  )
}

const behindText = (status: string): string =>
  status === 'pending'
    ? 'It waits for an earlier event of its subject.'
    : 'The webhook was disabled before.'

const columns = (now: Millis): Column<DeliveryTry>[] => [
  { head: 'Answer', at: 'what', cell: (one) => <AnswerBadge of={one} /> },
  {
    head: 'It began with',
    at: 'who',
    cell: ({ answer }) => (answer ? <bdi class="grow">{answer}</bdi> : null),
  },
  { head: 'To', kind: 'optional', cell: ({ to }) => to?.host ?? '–' },
  { head: 'Duration', kind: 'number', at: 'cost', cell: ({ ms }) => `${ms} ms` },
  { head: 'Time', at: 'when', cell: ({ at }) => <When at={at} now={now} /> },
]

const AnswerBadge = ({ of: { status, error, ms } }: { of: DeliveryTry }) => (
  <Badge tone={isDelivered({ httpStatus: status, error, durationMs: ms }) ? 'ok' : 'bad'}>
    {answerText(status, error)}
  </Badge>
)

/** JSON with line breaks, for the eye; as it is where a number would be rounded. */
function readable(body: string): string {
  const parsed: unknown = JSON.parse(body)
  return JSON.stringify(parsed) === body ? JSON.stringify(parsed, null, 2) : body
}
