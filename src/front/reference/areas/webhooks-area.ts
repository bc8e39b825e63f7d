/** Reference entries of webhooks and of the threshold of a balance. */
import * as t from '../../../web/http/shape.ts'
import {
  alertsBody,
  webhookBody,
  webhookChangeBody,
  webhookRotateBody,
} from '../../webhooks/api/webhook-body.ts'
import {
  alertsShape,
  deliveryPageShape,
  deliveryShape,
  webhookPageShape,
  webhookRemovedShape,
  webhookShape,
  webhookWithSecretShape,
} from '../../webhooks/shapes.ts'
import { area, ok, operation, pageQuery } from '../entry.ts'

const path = { id: t.id('whk', 'Id of a webhook of the account.') }
const access = 'webhooks:write'
const one = { name: 'A webhook', path: { id: t.sampleIds.whk }, status: 200 }
/** One that is there to be removed. */
const other = 'whk_01k1j8dq00w9y7x5v3t1r8q6p4'

const webhooks = [
  operation('listWebhooks', 'GET /v1/webhooks', 'List webhooks', {
    about: 'All webhooks of the account. The key needs to be one without a parent.',
    access,
    examples: [{ name: 'All', status: 200 }],
    answers: [ok('The webhooks.', webhookPageShape)],
  }),
  operation('createWebhook', 'POST /v1/webhooks', 'Make a webhook', {
    about:
      'Events are posted there, signed as Standard Webhooks says, at least once with one id, ' +
      'those of one subject in their order. The secret is in this answer and nowhere else.',
    access,
    body: { schema: webhookBody },
    isIdempotent: true,
    examples: [
      {
        name: 'What concerns the balance',
        body: {
          url: 'https://example.com/hooks/counterfoil',
          events: ['balance.low', 'balance.exhausted'],
        },
        status: 201,
      },
    ],
    answers: [{ ...ok('The webhook, with its secret.', webhookWithSecretShape), status: 201 }],
    refuses: ['conflict'],
  }),
  operation('showWebhook', 'GET /v1/webhooks/:id', 'One webhook', {
    about: 'One of another account is the same 404 as none.',
    access,
    path,
    examples: [one],
    answers: [ok('The webhook.', webhookShape)],
    refuses: ['not_found'],
  }),
  operation('changeWebhook', 'PATCH /v1/webhooks/:id', 'Change a webhook', {
    about: 'Members left out stay. `enabled` sends again to one that was disabled.',
    access,
    path,
    body: { schema: webhookChangeBody },
    examples: [{ ...one, name: 'Other events', body: { events: ['key.paused'] } }],
    answers: [ok('The webhook as it is now.', webhookShape)],
    refuses: ['not_found'],
  }),
  operation('removeWebhook', 'DELETE /v1/webhooks/:id', 'Remove a webhook', {
    about: 'With its deliveries; what waits is not sent.',
    access,
    path,
    examples: [{ ...one, path: { id: other } }],
    answers: [ok('It is gone.', webhookRemovedShape)],
    refuses: ['not_found'],
  }),
  operation('testWebhook', 'POST /v1/webhooks/:id/test', 'Test a webhook', {
    about: 'Sends a `webhook.test`, whichever events it wants. Its delivery tells what came of it.',
    access,
    path,
    examples: [one],
    answers: [ok('The delivery that was begun.', deliveryShape)],
    refuses: ['not_found', 'conflict'],
  }),
  operation('rotateWebhook', 'POST /v1/webhooks/:id/rotate', 'Make another secret', {
    about: 'Both secrets sign for a while, a day unless told otherwise.',
    access,
    path,
    body: { schema: webhookRotateBody, isOptional: true },
    examples: [{ ...one, name: 'An hour of both', body: { overlap_seconds: 3600 } }],
    answers: [ok('The webhook, with its new secret.', webhookWithSecretShape)],
    refuses: ['not_found', 'conflict'],
  }),
  operation('listDeliveries', 'GET /v1/webhooks/:id/deliveries', 'List deliveries', {
    about: 'Newest first: up to 1,000 that ended in the last week, and all that wait.',
    access,
    path,
    query: pageQuery(t.sampleIds.dlv),
    examples: [{ ...one, name: 'First page', query: { limit: '20' } }],
    answers: [ok('A page of deliveries.', deliveryPageShape)],
    refuses: ['not_found'],
  }),
  operation(
    'redeliver',
    'POST /v1/webhooks/:id/deliveries/:delivery/redeliver',
    'Send an event again',
    {
      about: 'With the id and the body that it had.',
      access,
      path: { ...path, delivery: t.id('dlv', 'Id of a delivery of it.') },
      examples: [{ ...one, path: { id: t.sampleIds.whk, delivery: t.sampleIds.dlv } }],
      answers: [ok('The delivery, which waits again.', deliveryShape)],
      refuses: ['not_found', 'conflict'],
    },
  ),
]

const alerts = [
  operation('showAlerts', 'GET /v1/alerts', 'Which balance is low', {
    about: 'The balance below which `balance.low` is told.',
    access,
    examples: [{ name: 'The threshold', status: 200 }],
    answers: [ok('The threshold.', alertsShape)],
  }),
  operation('changeAlerts', 'PATCH /v1/alerts', 'Change which balance is low', {
    about: '`balance.low` is sent each time the balance falls below it.',
    access,
    body: { schema: alertsBody },
    examples: [{ name: 'Five dollars', body: { balance_low_nusd: 5_000_000_000 }, status: 200 }],
    answers: [ok('The threshold as it is now.', alertsShape)],
  }),
]

export const webhooksArea = area('webhooks', 'programs', 'Webhooks', {
  about:
    'Events of an account, posted to URLs that it chooses. docs/webhooks.md has every ' +
    'event and shows how to check its signature.',
  operations: [...webhooks, ...alerts],
})
