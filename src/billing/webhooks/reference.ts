/** Reference entries of webhooks and of the threshold of a balance. */
import * as t from '../../web/http/shape.ts'
import * as r from '../../web/reference/entry.ts'
import {
  alertsBody,
  webhookBody,
  webhookChangeBody,
  webhookRotateBody,
} from './api/webhook-body.ts'
import { alertsForm, webhookForm, webhookRotateForm } from './portal/webhook-fields.ts'
import {
  alertsShape,
  deliveryDetailShape,
  deliveryPageShape,
  deliveryShape,
  webhookPageShape,
  webhookRemovedShape,
  webhookShape,
  webhookWithSecretShape,
} from './shapes.ts'

const path = {
  id: t.id('whk', 'Id of a webhook of the account.'),
  delivery: t.id('dlv', 'Id of a delivery of it.'),
}
const { get, post, patch, remove } = r.entriesUnder('/v1', { access: 'webhooks:write', path })
const own = r.entriesUnder('/api/portal', { path })

const url = 'https://example.com/hooks/counterfoil'
const ofBalance = {
  name: 'What concerns the balance',
  body: { url, events: ['balance.low', 'balance.exhausted'] },
}
const otherEvents = { name: 'Other events', body: { events: ['key.paused'] } }
const anHour = { name: 'An hour of both', body: { overlap_seconds: 3600 } }
const fiveDollars = { name: 'Five dollars', body: { balance_low_nusd: 5_000_000_000 } }
/** The webhook of this id is there to be removed. */
const removal = {
  about: 'With its deliveries; what waits is not sent.',
  examples: [{ name: 'A webhook', path: { id: 'whk_01k1j8dq00w9y7x5v3t1r8q6p4' } }],
}
const one = { examples: ['A webhook'] }
const again = {
  ...one,
  about: 'With the id and the body that it had.',
  refuses: ['conflict'],
} as const
const threshold = 'The balance below which `balance.low` is told.'

const operations = [
  get('listWebhooks', '/webhooks', 'List webhooks', {
    about: 'All webhooks of the account. The key needs to be one without a parent.',
    examples: ['All'],
    answers: r.ok('The webhooks.', webhookPageShape),
  }),
  post('createWebhook', '/webhooks', 'Make a webhook', {
    about:
      'Events are posted there, signed as Standard Webhooks says, at least once with one id, ' +
      'those of one subject in their order. The secret is in this answer and nowhere else.',
    body: webhookBody,
    isIdempotent: true,
    examples: [ofBalance],
    answers: r.made('The webhook, with its secret.', webhookWithSecretShape),
    refuses: ['conflict'],
  }),
  get('showWebhook', '/webhooks/:id', 'One webhook', {
    ...one,
    about: 'One of another account is the same 404 as none.',
    answers: r.ok('The webhook.', webhookShape),
  }),
  patch('changeWebhook', '/webhooks/:id', 'Change a webhook', {
    about: 'Members left out stay. `enabled` sends again to one that was disabled.',
    body: webhookChangeBody,
    examples: [otherEvents],
    answers: r.ok('The webhook as it is now.', webhookShape),
  }),
  remove('removeWebhook', '/webhooks/:id', 'Remove a webhook', {
    ...removal,
    answers: r.ok('It is gone.', webhookRemovedShape),
  }),
  post('testWebhook', '/webhooks/:id/test', 'Test a webhook', {
    ...one,
    about: 'Sends a `webhook.test`, whichever events it wants. Its delivery tells what came of it.',
    answers: r.ok('The delivery that was begun.', deliveryShape),
    refuses: ['conflict'],
  }),
  post('rotateWebhook', '/webhooks/:id/rotate', 'Make another secret', {
    about: 'Both secrets sign for a while, a day unless told otherwise.',
    body: { schema: webhookRotateBody, isOptional: true },
    examples: [anHour],
    answers: r.ok('The webhook, with its new secret.', webhookWithSecretShape),
    refuses: ['conflict'],
  }),
  get('listDeliveries', '/webhooks/:id/deliveries', 'List deliveries', {
    about: 'Newest first: up to 1,000 that ended in the last week, and all that wait.',
    query: r.pageQuery(t.sampleIds.dlv),
    answers: r.ok('A page of deliveries.', deliveryPageShape),
  }),
  get('showDelivery', '/webhooks/:id/deliveries/:delivery', 'One delivery', {
    ...one,
    about: 'What was sent, and each try with the start of its answer.',
    answers: r.ok('The delivery.', deliveryDetailShape),
  }),
  post('redeliver', '/webhooks/:id/deliveries/:delivery/redeliver', 'Send an event again', {
    ...again,
    answers: r.ok('The delivery, which waits again.', deliveryShape),
  }),
  get('showAlerts', '/alerts', 'Which balance is low', {
    about: threshold,
    examples: ['The threshold'],
    answers: r.ok('The threshold.', alertsShape),
  }),
  patch('changeAlerts', '/alerts', 'Change which balance is low', {
    about: '`balance.low` is sent each time the balance falls below it.',
    body: alertsBody,
    examples: [fiveDollars],
    answers: r.ok('The threshold as it is now.', alertsShape),
  }),
]

export const webhooksArea = r.area('webhooks', 'programs', 'Webhooks', {
  about:
    'Events of an account, posted to URLs that it chooses. docs/webhooks.md has every ' +
    'event and shows how to check its signature.',
  operations,
})

const asItIs = r.done('The webhook as it is now.', webhookShape)
const secretOnce = r.goesTo(
  'To a browser that navigates (`Sec-Fetch-Mode: navigate`): the page of the secret.',
)
const change = {
  about: 'As `PATCH /v1/webhooks/:id`. Members left out stay.',
  body: { schema: webhookChangeBody, form: webhookForm },
  answers: asItIs,
}
const gone = { ...removal, answers: r.done('It is gone.', webhookRemovedShape) }
const changeAlerts = {
  about: 'As `PATCH /v1/alerts`; a form sends decimal USD.',
  body: { schema: alertsBody, form: alertsForm },
  answers: r.done('The threshold as it is now.', alertsShape),
}

const ownOperations = [
  own.get('listOwnWebhooks', '/webhooks', 'List webhooks of the account', {
    about: 'As `GET /v1/webhooks`. Only owners see them: the address of a chat is a secret.',
    answers: r.done('The webhooks.', webhookPageShape),
  }),
  own.post('createOwnWebhook', '/webhooks', 'Make a webhook of the account', {
    about: 'As `POST /v1/webhooks`. The secret is in this answer only.',
    body: { schema: webhookBody, form: webhookForm },
    isIdempotent: true,
    examples: [
      ofBalance,
      {
        name: 'From a form',
        form: { url, events_from: 'boxes', 'event.balance.low': 'true' },
      },
    ],
    answers: [r.paged(201, 'The webhook, with its secret.', webhookWithSecretShape), secretOnce],
    refuses: ['conflict'],
  }),
  own.get('showOwnWebhook', '/webhooks/:id', 'One webhook of the account', {
    about: 'One of another account is the same 404 as none.',
    answers: asItIs,
  }),
  own.patch('changeOwnWebhook', '/webhooks/:id', 'Change a webhook', {
    ...change,
    examples: [otherEvents],
  }),
  own.post('changeOwnWebhookByForm', '/webhooks/:id', 'Change it by a form', {
    ...change,
    examples: [{ name: 'Disable it', form: { enabled: 'false' } }],
  }),
  own.remove('deleteOwnWebhook', '/webhooks/:id', 'Remove a webhook', gone),
  own.post('removeOwnWebhook', '/webhooks/:id/remove', 'Remove it by a form', gone),
  own.post('rotateOwnWebhook', '/webhooks/:id/rotate', 'Make another secret', {
    about: 'As `POST /v1/webhooks/:id/rotate`. A form answers with the page of the secret.',
    body: { schema: webhookRotateBody, form: webhookRotateForm, isOptional: true },
    examples: [anHour, { name: 'From a form', form: { overlap_seconds: '3600' } }],
    answers: [
      r.paged(200, 'The webhook, with its new secret.', webhookWithSecretShape),
      secretOnce,
    ],
    refuses: ['conflict'],
  }),
  own.post('testOwnWebhook', '/webhooks/:id/test', 'Send a test', {
    about: 'As `POST /v1/webhooks/:id/test`.',
    answers: r.done('The delivery that was begun.', deliveryShape),
    refuses: ['conflict'],
  }),
  own.get('listOwnDeliveries', '/webhooks/:id/deliveries', 'List deliveries of the account', {
    about: 'As `GET /v1/webhooks/:id/deliveries`.',
    query: r.pageQuery(t.sampleIds.dlv),
    answers: r.done('A page of deliveries.', deliveryPageShape),
  }),
  own.get('showOwnDelivery', '/webhooks/:id/deliveries/:delivery', 'One delivery of the account', {
    about: 'As `GET /v1/webhooks/:id/deliveries/:delivery`.',
    answers: r.done('The delivery.', deliveryDetailShape),
  }),
  own.post(
    'redeliverOwn',
    '/webhooks/:id/deliveries/:delivery/redeliver',
    'Send an event again from the dashboard',
    { ...again, answers: r.done('The delivery, which waits again.', deliveryShape) },
  ),
  own.get('showOwnAlerts', '/alerts', 'Which balance of the account is low', {
    about: threshold,
    answers: r.ok('The threshold.', alertsShape),
  }),
  own.patch('changeOwnAlerts', '/alerts', 'Change which balance is low', {
    ...changeAlerts,
    examples: [fiveDollars],
  }),
  own.post('changeOwnAlertsByForm', '/alerts', 'Change it from the settings', {
    ...changeAlerts,
    examples: [{ name: 'From a form', form: { balance_low: '5.00' } }],
  }),
]

export const ownWebhooksArea = r.area('own-webhooks', 'dashboard', 'Webhooks of an account', {
  about: 'The webhooks of the signed-in account, with the actions of `/v1/webhooks`.',
  operations: ownOperations,
})
