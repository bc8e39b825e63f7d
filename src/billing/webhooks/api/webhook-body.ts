/** The bodies of `/v1/webhooks`. A start loads these; the answers load with the reference. */
import { accountEvents } from '../../../storage/outbox/event.ts'
import * as t from '../../../web/http/shape.ts'

export const formats = ['standard', 'slack', 'discord'] as const

const types = Object.keys(accountEvents)

const events = t.list(
  t.word('A type of event.', types),
  'Which events it gets. Default: all but run.ended.',
)
const url = t.text(
  'Where events are posted to: https, at a public address.',
  'https://example.com/hooks/counterfoil',
)
const description = t.text('At most 200 characters.', 'accounting')
const format = t.oneOf('What is posted: the event, or a message of that chat.', formats)

export const webhookBody = t.body('WebhookWish', 'A webhook to be made.', {
  url,
  'events?': events,
  'description?': description,
  'format?': format,
})

export const webhookChangeBody = t.body('WebhookChange', 'Members left out stay.', {
  'url?': url,
  'events?': events,
  'description?': description,
  'format?': format,
  'enabled?': t.flag('False ends what waits; true also after it was disabled for failing.', true),
})

export const webhookRotateBody = t.body('WebhookRotation', 'How long the old secret signs too.', {
  'overlap_seconds?': t.integer(
    'Seconds; default a day.',
    3600,
    t.told({ minimum: 0, maximum: 604_800 }),
  ),
})

export const alertsBody = t.body('AlertsChange', 'Which balance is low.', {
  balance_low_nusd: t.orNull(
    t.nusd('`balance.low` is told when the balance falls below. Null: never.', 5_000_000_000),
  ),
})
