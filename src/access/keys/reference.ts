/** Reference entries of keys: as a key asks for those below it, and as the dashboard does. */

import * as t from '../../web/http/shape.ts'
import * as r from '../../web/reference/entry.ts'
import { changeBody, mintBody, rotateBody } from './api/key-body.ts'
import { leakBody, leakShape } from './api/leak-body.ts'
import { keyForm, rotateForm } from './portal/key-fields.ts'
import { ownKeyQuery } from './portal/key-query.ts'
import {
  balanceShape,
  keyPageShape,
  keySelfShape,
  keyShape,
  keyWithSecretShape,
  ownKeyPageShape,
} from './shapes.ts'

const { get, post, patch } = r.entriesUnder('/v1/keys', {
  access: 'keys:mint',
  path: { id: t.text('Id of a key, or `self`.', t.sampleIds.key) },
})
const asItIs = r.ok('The key as it is now.', keyShape)
const conflict = ['conflict'] as const
const overlap = { overlap_seconds: 3600 }

const operations = [
  get('showSelf', '/self', 'The calling key', {
    about:
      'The key, its account, its chain of caps and what would refuse its next call. Answers for ' +
      'a paused key too.',
    access: 'also-paused',
    answers: r.ok('The key.', keySelfShape),
  }),
  get('listKeys', '', 'List keys', {
    about: 'The calling key and all below it, newest first.',
    access: 'keys:read',
    query: r.pageQuery(t.sampleIds.key),
    answers: r.ok('A page of keys.', keyPageShape),
  }),
  get('showKey', '/:id', 'One key', {
    about: 'The calling key or one below it. An id of others is the same 404 as an id of none.',
    access: 'keys:read',
    answers: r.ok('The key.', keyShape),
  }),
  post('mintKey', '', 'Make a key', {
    about:
      'A key below the caller, with at most its cap, expiry, scopes, models and networks. What ' +
      'it spends counts against every key above it. The secret is in this answer and nowhere else.',
    body: mintBody,
    isIdempotent: true,
    examples: [
      {
        name: 'A key with half a dollar a day',
        body: { name: 'research agent', cap: { limit_nusd: 500_000_000, window: 'day' } },
      },
    ],
    answers: r.made('The key, with its secret.', keyWithSecretShape),
    refuses: conflict,
  }),
  patch('changeKey', '/:id', 'Change a key', {
    about:
      'Any of these, within what the parent has now. A cap below what its window has spent and ' +
      'holds is a 409 whose `metadata.smallest_nusd` says the smallest it can be.',
    path: { id: t.text('Id of a key below the caller.', t.sampleIds.key) },
    body: changeBody,
    examples: [{ name: 'A smaller cap', body: { cap: { limit_nusd: 400_000_000 } } }],
    answers: asItIs,
    refuses: conflict,
  }),
  post('pauseKey', '/:id/pause', 'Pause a key', {
    about: 'Stops a key below and all under it, for a while. Runs in flight end as they would.',
    answers: asItIs,
    refuses: conflict,
  }),
  post('resumeKey', '/:id/resume', 'Resume a key', {
    about: 'Ends a pause. After a leak it lists what the key made, which stays paused.',
    answers: asItIs,
    refuses: conflict,
  }),
  post('rotateKey', '/:id/rotate', 'Rotate a secret', {
    about:
      'Another secret for the same key: id, limits and children stay. A key without `keys:mint` ' +
      'is rotated by a key above it, or in the dashboard.',
    body: { schema: rotateBody, isOptional: true },
    isIdempotent: true,
    examples: [{ name: 'The old secret works for another hour', body: overlap }],
    answers: r.ok('The key, with its new secret.', keyWithSecretShape),
    refuses: conflict,
  }),
  post('revokeKey', '/:id/revoke', 'Revoke a key', {
    about:
      'Stops it and all under it, for good; twice is 200. Any key gives up itself (`self`); a ' +
      'key below needs `keys:mint`.',
    access: 'any',
    answers: asItIs,
    refuses: ['scope_denied', 'not_found'],
  }),
]

export const keysArea = r.area('keys', 'programs', 'Keys', {
  about:
    'A key spends the balance of its account, up to its cap and until its expiry. It acts on ' +
    'itself and on the keys below it. Secrets are stored as their SHA-256 and shown once.',
  operations,
})

const own = r.entriesUnder('/api/portal/keys', {
  path: { id: t.id('key', 'Id of a key of the account.') },
})

const change = {
  about: 'As `PATCH /v1/keys/:id`. A form sends what it shows; what did not change stays.',
  body: { schema: changeBody, form: keyForm },
  answers: r.done('The key as it is now.', keyShape),
  refuses: conflict,
}

const act = (verb: 'pause' | 'resume' | 'revoke', title: string, about: string) =>
  own.post(`${verb}OwnKey`, `/:id/${verb}`, title, {
    about,
    answers: change.answers,
    refuses: conflict,
  })

const ownOperations = [
  own.get('listOwnKeys', '', 'List keys of the account', {
    about: 'All keys of the account, newest first.',
    query: ownKeyQuery.parameters,
    examples: [{ name: 'Those that work', query: { state: 'usable' } }],
    answers: r.done('A page of keys.', ownKeyPageShape),
  }),
  own.post('createOwnKey', '', 'Make a key of the account', {
    about:
      'As `POST /v1/keys`; without `parent_id` the key has no parent. The secret appears in this ' +
      'answer only. A form gets its page again, with the secret.',
    body: { schema: mintBody, form: keyForm },
    isIdempotent: true,
    examples: [
      {
        name: 'Five dollars a month',
        body: { name: 'research agent', cap: { limit_nusd: 5_000_000_000, window: 'month' } },
      },
      {
        name: 'From a form',
        form: { name: 'research agent', cap: '5.00', window: 'month', expires: '30' },
      },
    ],
    answers: [
      r.paged(201, 'The key, with its secret.', keyWithSecretShape),
      r.goesTo(
        'To a browser that navigates (`Sec-Fetch-Mode: navigate`): the page that shows the ' +
          'secret once. To a form that was sent again: the key that it made.',
      ),
    ],
    refuses: conflict,
  }),
  own.get('showOwnKey', '/:id', 'One key of the account', {
    about: 'An id of others is the same 404 as an id of none.',
    answers: r.done('The key.', keyShape),
  }),
  own.patch('changeOwnKey', '/:id', 'Change a key of the account', {
    ...change,
    examples: [{ name: 'A larger cap', body: { cap: { limit_nusd: 6_000_000_000 } } }],
  }),
  own.post('changeOwnKeyByForm', '/:id', 'Change a key by a form', {
    ...change,
    examples: [{ name: 'From a form', form: { cap: '6.00', tags: 'team=research' } }],
  }),
  act('pause', 'Pause a key of the account', 'Stops it and all under it, for a while.'),
  act('resume', 'Resume a key of the account', 'Ends a pause.'),
  own.post('rotateOwnKey', '/:id/rotate', 'Rotate a secret of the account', {
    about: 'As `POST /v1/keys/:id/rotate`. A form answers with the page that shows the secret.',
    body: { schema: rotateBody, form: rotateForm, isOptional: true },
    isIdempotent: true,
    examples: [
      { name: 'The old secret works for an hour', body: overlap },
      { name: 'From a form', form: { overlap_seconds: '3600' } },
    ],
    answers: [
      r.paged(200, 'The key, with its new secret.', keyWithSecretShape),
      r.goesTo('To a browser that navigates: the page that shows the secret once.'),
    ],
    refuses: conflict,
  }),
  act(
    'revoke',
    'Revoke a key of the account',
    'Stops it and all under it, for good; twice is 200.',
  ),
]

export const ownKeysArea = r.area('own-keys', 'dashboard', 'Keys of an account', {
  about: 'All keys of the signed-in account, with the actions of `/v1/keys`.',
  operations: ownOperations,
})

export const balanceEntry = r.entriesUnder('/v1').get('showBalance', '/balance', 'The balance', {
  about:
    'Of the account, whose keys all share it. A key below another, or in the branch of a member, ' +
    'sees what it can spend and holds itself.',
  access: 'usage:read',
  answers: r.ok('The balance.', balanceShape),
})

export const leakEntry = r.entriesUnder('').post('reportLeak', '/leaks', 'Report a leaked secret', {
  about:
    'Pauses the key of a secret that works, at once, and tells its owner. The answer is the ' +
    'same for any text, after the same time.',
  body: leakBody,
  examples: [{ name: 'A secret', body: { secret: 'sk-service-…' } }],
  answers: r.ok('It was received.', leakShape, undefined, 202),
  refuses: ['rate_limited'],
})
