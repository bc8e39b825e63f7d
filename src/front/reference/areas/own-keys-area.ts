/** Reference entries of the keys of an account. */
import { changeBody, mintBody, rotateBody } from '../../../access/keys/api/key-body.ts'
import { keyForm, rotateForm } from '../../../access/keys/portal/key-fields.ts'
import { keyShape, keyWithSecretShape, ownKeyPageShape } from '../../../access/keys/shapes.ts'
import * as t from '../../../web/http/shape.ts'
import { done, paged, seeOther } from '../browser-answers.ts'
import { area, operation, pageQuery } from '../entry.ts'

const path = { id: t.id('key', 'Id of a key of the account.') }
const one = { name: 'A key', path: { id: t.sampleIds.key }, status: 200 }
const asItIs = done('The key as it is now.', keyShape)

const lists = [
  operation('listOwnKeys', 'GET /api/portal/keys', 'List keys of the account', {
    about: 'All keys of the account, newest first.',
    access: 'session',
    query: {
      ...pageQuery(t.sampleIds.key),
      state: t.oneOf('Only those.', ['usable', 'paused', 'expired', 'revoked']),
      name: t.text('Only those whose name holds this.', 'agent'),
    },
    examples: [{ name: 'Those that work', query: { state: 'usable' }, status: 200 }],
    answers: done('A page of keys.', ownKeyPageShape),
  }),
  operation('createOwnKey', 'POST /api/portal/keys', 'Make a key of the account', {
    about:
      'As `POST /v1/keys`; without `parent_id` the key has no parent. The secret appears in this ' +
      'answer only. A form gets its page again, with the secret.',
    access: 'session',
    body: { schema: mintBody, form: keyForm },
    isIdempotent: true,
    examples: [
      {
        name: 'Five dollars a month',
        body: { name: 'research agent', cap: { limit_nusd: 5_000_000_000, window: 'month' } },
        status: 201,
      },
      {
        name: 'From a form',
        form: { name: 'research agent', cap: '5.00', window: 'month', expires: '30' },
        status: 201,
      },
    ],
    answers: [
      paged(201, 'The key, with its secret.', keyWithSecretShape),
      {
        ...seeOther,
        about:
          'To a browser that navigates (`Sec-Fetch-Mode: navigate`): the page that shows the ' +
          'secret once. To a form that was sent again: the key that it made.',
      },
    ],
    refuses: ['conflict'],
  }),
  operation('showOwnKey', 'GET /api/portal/keys/:id', 'One key of the account', {
    about: 'An id of others is the same 404 as an id of none.',
    access: 'session',
    path,
    answers: done('The key.', keyShape),
    refuses: ['not_found'],
  }),
]

const change = {
  about: 'As `PATCH /v1/keys/:id`. A form sends what it shows; what did not change stays.',
  access: 'session',
  path,
  body: { schema: changeBody, form: keyForm },
  answers: asItIs,
  refuses: ['not_found', 'conflict'],
} as const

const act = (verb: 'pause' | 'resume' | 'revoke', title: string, about: string) =>
  operation(`${verb}OwnKey`, `POST /api/portal/keys/:id/${verb}`, title, {
    about,
    access: 'session',
    path,
    answers: asItIs,
    refuses: ['not_found', 'conflict'],
  })

const changes = [
  operation('changeOwnKey', 'PATCH /api/portal/keys/:id', 'Change a key of the account', {
    ...change,
    examples: [{ ...one, name: 'A larger cap', body: { cap: { limit_nusd: 6_000_000_000 } } }],
  }),
  operation('changeOwnKeyByForm', 'POST /api/portal/keys/:id', 'Change a key by a form', {
    ...change,
    examples: [{ ...one, name: 'From a form', form: { cap: '6.00', tags: 'team=research' } }],
  }),
  act('pause', 'Pause a key of the account', 'Stops it and all under it, for a while.'),
  act('resume', 'Resume a key of the account', 'Ends a pause.'),
  operation('rotateOwnKey', 'POST /api/portal/keys/:id/rotate', 'Rotate a secret of the account', {
    about: 'As `POST /v1/keys/:id/rotate`. A form answers with the page that shows the secret.',
    access: 'session',
    path,
    body: { schema: rotateBody, form: rotateForm, isOptional: true },
    isIdempotent: true,
    examples: [
      { ...one, name: 'The old secret works for an hour', body: { overlap_seconds: 3600 } },
      { ...one, name: 'From a form', form: { overlap_seconds: '3600' } },
    ],
    answers: [
      paged(200, 'The key, with its new secret.', keyWithSecretShape),
      {
        ...seeOther,
        about: 'To a browser that navigates: the page that shows the secret once.',
      },
    ],
    refuses: ['not_found', 'conflict'],
  }),
  act(
    'revoke',
    'Revoke a key of the account',
    'Stops it and all under it, for good; twice is 200.',
  ),
]

export const ownKeysArea = area('own-keys', 'dashboard', 'Keys of an account', {
  about: 'All keys of the signed-in account, with the actions of `/v1/keys`.',
  operations: [...lists, ...changes],
})
