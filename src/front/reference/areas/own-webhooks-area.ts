/** Reference entries of the webhooks of an account, as the dashboard asks for them. */
import * as t from '../../../web/http/shape.ts'
import {
  alertsBody,
  webhookBody,
  webhookChangeBody,
  webhookRotateBody,
} from '../../webhooks/api/webhook-body.ts'
import { alertsForm, webhookForm, webhookRotateForm } from '../../webhooks/portal/webhook-fields.ts'
import {
  alertsShape,
  deliveryPageShape,
  deliveryShape,
  webhookPageShape,
  webhookRemovedShape,
  webhookShape,
  webhookWithSecretShape,
} from '../../webhooks/shapes.ts'
import { done, paged, seeOther } from '../browser-answers.ts'
import { area, ok, operation, pageQuery } from '../entry.ts'

const path = { id: t.id('whk', 'Id of a webhook of the account.') }
const one = { name: 'A webhook', path: { id: t.sampleIds.whk }, status: 200 }
/** One that is there to be removed. */
const other = { ...one, path: { id: 'whk_01k1j8dq00w9y7x5v3t1r8q6p4' } }
const base = { access: 'session', path, refuses: ['not_found'] } as const
const asItIs = done('The webhook as it is now.', webhookShape)
const secretOnce = {
  ...seeOther,
  about: 'To a browser that navigates (`Sec-Fetch-Mode: navigate`): the page of the secret.',
}

const lists = [
  operation('listOwnWebhooks', 'GET /api/portal/webhooks', 'List webhooks of the account', {
    about: 'As `GET /v1/webhooks`. Only owners see them: the address of a chat is a secret.',
    access: 'session',
    answers: done('The webhooks.', webhookPageShape),
  }),
  operation('createOwnWebhook', 'POST /api/portal/webhooks', 'Make a webhook of the account', {
    about: 'As `POST /v1/webhooks`. The secret is in this answer only.',
    access: 'session',
    body: { schema: webhookBody, form: webhookForm },
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
      {
        name: 'From a form',
        form: {
          url: 'https://example.com/hooks/counterfoil',
          events_from: 'boxes',
          'event.balance.low': 'true',
        },
        status: 201,
      },
    ],
    answers: [paged(201, 'The webhook, with its secret.', webhookWithSecretShape), secretOnce],
    refuses: ['conflict'],
  }),
  operation('showOwnWebhook', 'GET /api/portal/webhooks/:id', 'One webhook of the account', {
    ...base,
    about: 'One of another account is the same 404 as none.',
    answers: asItIs,
  }),
]

const change = {
  ...base,
  about: 'As `PATCH /v1/webhooks/:id`. Members left out stay.',
  body: { schema: webhookChangeBody, form: webhookForm },
  answers: asItIs,
} as const

const remove = {
  ...base,
  about: 'With its deliveries; what waits is not sent.',
  examples: [other],
  answers: done('It is gone.', webhookRemovedShape),
} as const

const changes = [
  operation('changeOwnWebhook', 'PATCH /api/portal/webhooks/:id', 'Change a webhook', {
    ...change,
    examples: [{ ...one, name: 'Other events', body: { events: ['key.paused'] } }],
  }),
  operation('changeOwnWebhookByForm', 'POST /api/portal/webhooks/:id', 'Change it by a form', {
    ...change,
    examples: [{ ...one, name: 'Disable it', form: { enabled: 'false' } }],
  }),
  operation('deleteOwnWebhook', 'DELETE /api/portal/webhooks/:id', 'Remove a webhook', remove),
  operation(
    'removeOwnWebhook',
    'POST /api/portal/webhooks/:id/remove',
    'Remove it by a form',
    remove,
  ),
  operation('rotateOwnWebhook', 'POST /api/portal/webhooks/:id/rotate', 'Make another secret', {
    ...base,
    about: 'As `POST /v1/webhooks/:id/rotate`. A form answers with the page of the secret.',
    body: { schema: webhookRotateBody, form: webhookRotateForm, isOptional: true },
    examples: [
      { ...one, name: 'An hour of both', body: { overlap_seconds: 3600 } },
      { ...one, name: 'From a form', form: { overlap_seconds: '3600' } },
    ],
    answers: [paged(200, 'The webhook, with its new secret.', webhookWithSecretShape), secretOnce],
    refuses: ['not_found', 'conflict'],
  }),
]

const sending = [
  operation('testOwnWebhook', 'POST /api/portal/webhooks/:id/test', 'Send a test', {
    ...base,
    about: 'As `POST /v1/webhooks/:id/test`.',
    answers: done('The delivery that was begun.', deliveryShape),
    refuses: ['not_found', 'conflict'],
  }),
  operation(
    'listOwnDeliveries',
    'GET /api/portal/webhooks/:id/deliveries',
    'List deliveries of the account',
    {
      ...base,
      about: 'As `GET /v1/webhooks/:id/deliveries`.',
      query: pageQuery(t.sampleIds.dlv),
      examples: [{ ...one, name: 'First page', query: { limit: '20' } }],
      answers: done('A page of deliveries.', deliveryPageShape),
    },
  ),
  operation(
    'redeliverOwn',
    'POST /api/portal/webhooks/:id/deliveries/:delivery/redeliver',
    'Send an event again from the dashboard',
    {
      ...base,
      about: 'With the id and the body that it had.',
      path: { ...path, delivery: t.id('dlv', 'Id of a delivery of it.') },
      examples: [{ ...one, path: { id: t.sampleIds.whk, delivery: t.sampleIds.dlv } }],
      answers: done('The delivery, which waits again.', deliveryShape),
      refuses: ['not_found', 'conflict'],
    },
  ),
]

const changeAlerts = {
  about: 'As `PATCH /v1/alerts`; a form sends decimal USD.',
  access: 'session',
  body: { schema: alertsBody, form: alertsForm },
  answers: done('The threshold as it is now.', alertsShape),
} as const

const alerts = [
  operation('showOwnAlerts', 'GET /api/portal/alerts', 'Which balance of the account is low', {
    about: 'The balance below which `balance.low` is told.',
    access: 'session',
    answers: [ok('The threshold.', alertsShape)],
  }),
  operation('changeOwnAlerts', 'PATCH /api/portal/alerts', 'Change which balance is low', {
    ...changeAlerts,
    examples: [{ name: 'Five dollars', body: { balance_low_nusd: 5_000_000_000 }, status: 200 }],
  }),
  operation('changeOwnAlertsByForm', 'POST /api/portal/alerts', 'Change it from the settings', {
    ...changeAlerts,
    examples: [{ name: 'From a form', form: { balance_low: '5.00' }, status: 200 }],
  }),
]

export const ownWebhooksArea = area('own-webhooks', 'dashboard', 'Webhooks of an account', {
  about: 'The webhooks of the signed-in account, with the actions of `/v1/webhooks`.',
  operations: [...lists, ...changes, ...sending, ...alerts],
})
