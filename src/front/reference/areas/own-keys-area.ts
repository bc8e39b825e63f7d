import { keyForm, rotateForm } from '../../../access/keys/portal/key-fields.ts'
import { done, paged, seeOther } from '../browser-answers.ts'
import type { Area, Operation } from '../operation.ts'
import { id, oneOf, page, ref, type Schemas, sampleIds, text } from '../schema.ts'
import { shapeOf } from '../shape.ts'
import { pageQuery } from './keys-area.ts'

const path = { id: id('key', 'Id of a key of the account.') }
const one = { name: 'A key', path: { id: sampleIds.key }, status: 200 }
const asItIs = done('The key as it is now.', ref('Key'))

const schemas: Schemas = {
  OwnKeyPage: page('Keys of an account.', 'Key'),
  KeyForm: shapeOf(keyForm),
  KeyRotationForm: shapeOf(rotateForm),
}

const lists: readonly Operation[] = [
  {
    id: 'listOwnKeys',
    route: 'GET /api/portal/keys',
    title: 'List keys of the account',
    about: 'All keys of the account, newest first.',
    access: 'session',
    query: {
      ...pageQuery,
      after: text('`last_id` of the page before.', sampleIds.key),
      state: oneOf('Only those.', ['usable', 'paused', 'expired', 'revoked']),
      name: text('Only those whose name holds this.', 'agent'),
    },
    examples: [{ name: 'Those that work', query: { state: 'usable' }, status: 200 }],
    answers: done('A page of keys.', ref('OwnKeyPage')),
  },
  {
    id: 'createOwnKey',
    route: 'POST /api/portal/keys',
    title: 'Make a key of the account',
    about:
      'As `POST /v1/keys`; without `parent_id` the key has no parent. The secret appears in this ' +
      'answer only. A form gets its page again, with the secret.',
    access: 'session',
    body: { schema: ref('KeyWish'), form: ref('KeyForm') },
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
      paged(201, 'The key, with its secret.', ref('KeyWithSecret')),
      { ...seeOther, about: 'To a form that was sent again: the key that it made.' },
    ],
    refuses: ['conflict'],
  },
  {
    id: 'showOwnKey',
    route: 'GET /api/portal/keys/:id',
    title: 'One key of the account',
    about: 'An id of others is the same 404 as an id of none.',
    access: 'session',
    path,
    examples: [one],
    answers: done('The key.', ref('Key')),
    refuses: ['not_found'],
  },
]

const change = {
  about: 'As `PATCH /v1/keys/:id`. A form sends what it shows; what did not change stays.',
  access: 'session',
  path,
  body: { schema: ref('KeyChange'), form: ref('KeyForm') },
  answers: asItIs,
  refuses: ['not_found', 'conflict'],
} as const

const act = (id: string, verb: string, title: string, about: string): Operation => ({
  id,
  route: `POST /api/portal/keys/:id/${verb}`,
  title,
  about,
  access: 'session',
  path,
  examples: [one],
  answers: asItIs,
  refuses: ['not_found', 'conflict'],
})

const changes: readonly Operation[] = [
  {
    ...change,
    id: 'changeOwnKey',
    route: 'PATCH /api/portal/keys/:id',
    title: 'Change a key of the account',
    examples: [{ ...one, name: 'A larger cap', body: { cap: { limit_nusd: 6_000_000_000 } } }],
  },
  {
    ...change,
    id: 'changeOwnKeyByForm',
    route: 'POST /api/portal/keys/:id',
    title: 'Change a key by a form',
    examples: [{ ...one, name: 'From a form', form: { cap: '6.00', tags: 'team=research' } }],
  },
  act(
    'pauseOwnKey',
    'pause',
    'Pause a key of the account',
    'Stops it and all under it, for a while.',
  ),
  act('resumeOwnKey', 'resume', 'Resume a key of the account', 'Ends a pause.'),
  {
    id: 'rotateOwnKey',
    route: 'POST /api/portal/keys/:id/rotate',
    title: 'Rotate a secret of the account',
    about: 'As `POST /v1/keys/:id/rotate`. A form answers with the page that shows the secret.',
    access: 'session',
    path,
    body: { schema: ref('KeyRotation'), form: ref('KeyRotationForm'), isOptional: true },
    isIdempotent: true,
    examples: [
      { ...one, name: 'The old secret works for an hour', body: { overlap_seconds: 3600 } },
      { ...one, name: 'From a form', form: { overlap_seconds: '3600' } },
    ],
    answers: [paged(200, 'The key, with its new secret.', ref('KeyWithSecret'))],
    refuses: ['not_found', 'conflict'],
  },
  act(
    'revokeOwnKey',
    'revoke',
    'Revoke a key of the account',
    'Stops it and all under it, for good; twice is 200.',
  ),
]

export const ownKeysArea: Area = {
  id: 'own-keys',
  group: 'dashboard',
  title: 'Keys of an account',
  about: 'All keys of the signed-in account, with the actions of `/v1/keys`.',
  operations: [...lists, ...changes],
  schemas,
}
