import { type Area, type Operation, ok } from '../operation.ts'
import { integer, ref, sampleIds, text } from '../schema.ts'
import { keySchemas } from './keys-schemas.ts'

/** Parameters that pages of lists share. */
export const pageQuery = {
  limit: integer('How many, 20 if absent.', 20, { minimum: 1, maximum: 100 }),
  after: text('`last_id` of the page before.', sampleIds.run),
}

const keyId = { id: text('Id of a key, or `self`.', sampleIds.key) }
const one = { name: 'A key', path: { id: sampleIds.key }, status: 200 }

const reads: readonly Operation[] = [
  {
    id: 'showSelf',
    route: 'GET /v1/keys/self',
    title: 'The calling key',
    about:
      'The key, its account, its chain of caps and what would refuse its next call. Answers for ' +
      'a paused key too.',
    access: 'also-paused',
    examples: [{ name: 'Check the budget', status: 200 }],
    answers: [ok('The key.', ref('KeySelf'))],
  },
  {
    id: 'listKeys',
    route: 'GET /v1/keys',
    title: 'List keys',
    about: 'The calling key and all below it, newest first.',
    access: 'keys:read',
    query: { ...pageQuery, after: text('`last_id` of the page before.', sampleIds.key) },
    examples: [{ name: 'First page', query: { limit: '20' }, status: 200 }],
    answers: [ok('A page of keys.', ref('KeyPage'))],
  },
  {
    id: 'showKey',
    route: 'GET /v1/keys/:id',
    title: 'One key',
    about: 'The calling key or one below it. An id of others is the same 404 as an id of none.',
    access: 'keys:read',
    path: keyId,
    examples: [one],
    answers: [ok('The key.', ref('Key'))],
    refuses: ['not_found'],
  },
]

const changes: readonly Operation[] = [
  {
    id: 'mintKey',
    route: 'POST /v1/keys',
    title: 'Make a key',
    about:
      'A key below the caller, with at most its cap, expiry, scopes, models and networks. What ' +
      'it spends counts against every key above it. The secret is in this answer and nowhere else.',
    access: 'keys:mint',
    body: { schema: ref('KeyWish') },
    isIdempotent: true,
    examples: [
      {
        name: 'A key with half a dollar a day',
        body: { name: 'research agent', cap: { limit_nusd: 500_000_000, window: 'day' } },
        status: 201,
      },
    ],
    answers: [{ ...ok('The key, with its secret.', ref('KeyWithSecret')), status: 201 }],
    refuses: ['conflict'],
  },
  {
    id: 'changeKey',
    route: 'PATCH /v1/keys/:id',
    title: 'Change a key',
    about:
      'Any of these, within what the parent has now. A cap below what its window has spent and ' +
      'holds is a 409 whose `metadata.smallest_nusd` says the smallest it can be.',
    access: 'keys:mint',
    path: { id: text('Id of a key below the caller.', sampleIds.key) },
    body: { schema: ref('KeyChange') },
    examples: [
      {
        name: 'A smaller cap',
        path: { id: sampleIds.key },
        body: { cap: { limit_nusd: 400_000_000 } },
        status: 200,
      },
    ],
    answers: [ok('The key as it is now.', ref('Key'))],
    refuses: ['not_found', 'conflict'],
  },
  {
    id: 'pauseKey',
    route: 'POST /v1/keys/:id/pause',
    title: 'Pause a key',
    about: 'Stops a key below and all under it, for a while. Runs in flight end as they would.',
    access: 'keys:mint',
    path: keyId,
    examples: [one],
    answers: [ok('The key as it is now.', ref('Key'))],
    refuses: ['not_found', 'conflict'],
  },
  {
    id: 'resumeKey',
    route: 'POST /v1/keys/:id/resume',
    title: 'Resume a key',
    about: 'Ends a pause.',
    access: 'keys:mint',
    path: keyId,
    examples: [one],
    answers: [ok('The key as it is now.', ref('Key'))],
    refuses: ['not_found', 'conflict'],
  },
  {
    id: 'rotateKey',
    route: 'POST /v1/keys/:id/rotate',
    title: 'Rotate a secret',
    about:
      'Another secret for the same key: id, limits and children stay. Any key rotates itself ' +
      '(`self`); a key below needs `keys:mint`.',
    access: 'any',
    path: keyId,
    body: { schema: ref('KeyRotation'), isOptional: true },
    isIdempotent: true,
    examples: [
      {
        name: 'The old secret works for another hour',
        path: { id: sampleIds.key },
        body: { overlap_seconds: 3600 },
        status: 200,
      },
    ],
    answers: [ok('The key, with its new secret.', ref('KeyWithSecret'))],
    refuses: ['scope_denied', 'not_found', 'conflict'],
  },
  {
    id: 'revokeKey',
    route: 'POST /v1/keys/:id/revoke',
    title: 'Revoke a key',
    about:
      'Stops it and all under it, for good; twice is 200. Any key gives up itself (`self`); a ' +
      'key below needs `keys:mint`.',
    access: 'any',
    path: keyId,
    examples: [one],
    answers: [ok('The key as it is now.', ref('Key'))],
    refuses: ['scope_denied', 'not_found'],
  },
]

export const keysArea: Area = {
  id: 'keys',
  group: 'programs',
  title: 'Keys',
  about:
    'A key spends the balance of its account, up to its cap and until its expiry. It acts on ' +
    'itself and on the keys below it. Secrets are stored as their SHA-256 and shown once.',
  operations: [...reads, ...changes],
  schemas: keySchemas,
}
