/** The answers of `/v1/webhooks` and `/v1/alerts`. */
import * as t from '../../web/http/shape.ts'
import { formats } from './api/webhook-body.ts'

const members = {
  id: t.id('whk', 'Id of the webhook.'),
  object: t.only('webhook'),
  url: t.text('Where events are posted to.', 'https://example.com/hooks/counterfoil'),
  events: t.list(t.text('A type of event.', 'balance.low'), 'Which events it gets.'),
  description: t.text('At most 200 characters.', 'accounting'),
  format: t.oneOf('What is posted.', formats),
  enabled: t.flag('Whether it is sent to.', true),
  disabled_reason: t.usuallyNull(
    t.oneOf('`failing`: nothing arrived for three days. `leak`: a leaked key chose it.', [
      'failing',
      'owner',
      'leak',
    ]),
  ),
  failing_since: t.usuallyNull(t.time('When the failures began that no success has ended.')),
  dropped: t.count('Events that were not queued: too many were waiting.', 0),
  created_at: t.time('When it was made.'),
  old_secret_until: t.usuallyNull(t.time('Until then the secret before signs too.')),
}

export const webhookShape = t.answer('Webhook', 'A webhook of the account.', members)

export const webhookWithSecretShape = t.answer('WebhookWithSecret', 'A webhook with its secret.', {
  ...members,
  secret: t.text('Signs the messages. Shown once.', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'),
})

export const webhookPageShape = t.page('WebhookPage', 'A list of webhooks.', webhookShape)

const errorShape = (about: string) =>
  t.usuallyNull(
    t.word(about, [
      'forbidden_url',
      'forbidden_address',
      'unknown_host',
      'unreachable',
      'timeout',
      'redirect',
      'secret_unreadable',
    ]),
  )

const delivery = {
  id: t.id('dlv', 'Id of the delivery.'),
  object: t.only('webhook_delivery'),
  event_id: t.id('evt', 'Id of the event: `webhook-id` of each try.'),
  type: t.text('Its type.', 'balance.low'),
  status: t.oneOf('`pending` until it arrived or three days are over.', [
    'pending',
    'delivered',
    'failed',
  ]),
  attempts: t.count('Tries so far.', 1),
  next_attempt_at: t.usuallyNull(t.time('When it is tried next.')),
  last_attempt_at: t.orNull(t.time('When it was tried last.')),
  http_status: t.orNull(t.integer('What the last try was answered.', 204)),
  duration_ms: t.orNull(t.count('How long that took.', 84)),
  error: errorShape('Why the last try got no answer.'),
}

export const deliveryShape = t.answer(
  'WebhookDelivery',
  'An event on its way to a webhook.',
  delivery,
)

export const deliveryDetailShape = t.answer(
  'WebhookDeliveryDetail',
  'A delivery with its event, and its last tries.',
  {
    ...delivery,
    webhook_id: t.id('whk', 'Id of the webhook.'),
    url: t.text('Where it is posted to now.', 'https://example.com/hooks/counterfoil'),
    headers: t.map(
      t.text('The value.', 'application/json'),
      'Headers of the last try. `webhook-timestamp` and `webhook-signature` differ with each.',
      { 'content-type': 'application/json', 'webhook-id': t.sampleIds.evt },
    ),
    body: t.text(
      'Made from the stored event now, in the format of the last try. The body itself is not kept.',
      '{"type":"balance.low"}',
    ),
    tries: t.list(
      t.object('', {
        at: t.time('When it ended.'),
        http_status: t.orNull(t.integer('What was answered.', 204)),
        duration_ms: t.count('How long it took.', 84),
        error: errorShape('Why there was no answer.'),
        answer: t.orNull(t.text('How the answer begins: up to 200 bytes, no signature.', 'ok')),
        host: t.orNull(t.text('Where it was posted to; null if nothing was.', 'example.com')),
        format: t.orNull(t.oneOf('What was posted.', formats)),
        user_agent: t.orNull(t.text('The `user-agent` of this try.', 'Counterfoil/1.0.0')),
      }),
      'The last ten, the oldest first.',
    ),
  },
)

export const deliveryPageShape = t.page('WebhookDeliveryPage', 'Deliveries.', deliveryShape)

export const webhookRemovedShape = t.answer('WebhookRemoved', 'The webhook is gone.', {
  id: t.id('whk', 'Id of the webhook that was.'),
  object: t.only('webhook'),
  deleted: t.flag('Always true.', true),
})

export const alertsShape = t.answer('Alerts', 'Which balance is low.', {
  object: t.only('alerts'),
  balance_low_nusd: t.orNull(
    t.nusd('`balance.low` is sent when the balance falls below it. Null: never.', 5_000_000_000),
  ),
})

export type WebhookAnswer = t.Static<typeof webhookShape>
export type DeliveryAnswer = t.Static<typeof deliveryShape>
export type DeliveryDetailAnswer = t.Static<typeof deliveryDetailShape>
