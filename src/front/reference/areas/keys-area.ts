/** Reference entries of keys. */
import { changeBody, mintBody, rotateBody } from '../../../access/keys/api/key-body.ts'
import {
  keyPageShape,
  keySelfShape,
  keyShape,
  keyWithSecretShape,
} from '../../../access/keys/shapes.ts'
import * as t from '../../../web/http/shape.ts'
import { area, ok, operation, pageQuery } from '../entry.ts'

const keyId = { id: t.text('Id of a key, or `self`.', t.sampleIds.key) }

const reads = [
  operation('showSelf', 'GET /v1/keys/self', 'The calling key', {
    about:
      'The key, its account, its chain of caps and what would refuse its next call. Answers for ' +
      'a paused key too.',
    access: 'also-paused',
    answers: [ok('The key.', keySelfShape)],
  }),
  operation('listKeys', 'GET /v1/keys', 'List keys', {
    about: 'The calling key and all below it, newest first.',
    access: 'keys:read',
    query: pageQuery(t.sampleIds.key),
    examples: [{ name: 'First page', query: { limit: '20' }, status: 200 }],
    answers: [ok('A page of keys.', keyPageShape)],
  }),
  operation('showKey', 'GET /v1/keys/:id', 'One key', {
    about: 'The calling key or one below it. An id of others is the same 404 as an id of none.',
    access: 'keys:read',
    path: keyId,
    answers: [ok('The key.', keyShape)],
    refuses: ['not_found'],
  }),
]

const changes = [
  operation('mintKey', 'POST /v1/keys', 'Make a key', {
    about:
      'A key below the caller, with at most its cap, expiry, scopes, models and networks. What ' +
      'it spends counts against every key above it. The secret is in this answer and nowhere else.',
    access: 'keys:mint',
    body: { schema: mintBody },
    isIdempotent: true,
    examples: [
      {
        name: 'A key with half a dollar a day',
        body: { name: 'research agent', cap: { limit_nusd: 500_000_000, window: 'day' } },
        status: 201,
      },
    ],
    answers: [{ ...ok('The key, with its secret.', keyWithSecretShape), status: 201 }],
    refuses: ['conflict'],
  }),
  operation('changeKey', 'PATCH /v1/keys/:id', 'Change a key', {
    about:
      'Any of these, within what the parent has now. A cap below what its window has spent and ' +
      'holds is a 409 whose `metadata.smallest_nusd` says the smallest it can be.',
    access: 'keys:mint',
    path: { id: t.text('Id of a key below the caller.', t.sampleIds.key) },
    body: { schema: changeBody },
    examples: [
      {
        name: 'A smaller cap',
        path: { id: t.sampleIds.key },
        body: { cap: { limit_nusd: 400_000_000 } },
        status: 200,
      },
    ],
    answers: [ok('The key as it is now.', keyShape)],
    refuses: ['not_found', 'conflict'],
  }),
  operation('pauseKey', 'POST /v1/keys/:id/pause', 'Pause a key', {
    about: 'Stops a key below and all under it, for a while. Runs in flight end as they would.',
    access: 'keys:mint',
    path: keyId,
    answers: [ok('The key as it is now.', keyShape)],
    refuses: ['not_found', 'conflict'],
  }),
  operation('resumeKey', 'POST /v1/keys/:id/resume', 'Resume a key', {
    about: 'Ends a pause. After a leak it lists what the key made, which stays paused.',
    access: 'keys:mint',
    path: keyId,
    answers: [ok('The key as it is now.', keyShape)],
    refuses: ['not_found', 'conflict'],
  }),
  operation('rotateKey', 'POST /v1/keys/:id/rotate', 'Rotate a secret', {
    about:
      'Another secret for the same key: id, limits and children stay. A key without `keys:mint` ' +
      'is rotated by a key above it, or in the dashboard.',
    access: 'keys:mint',
    path: keyId,
    body: { schema: rotateBody, isOptional: true },
    isIdempotent: true,
    examples: [
      {
        name: 'The old secret works for another hour',
        path: { id: t.sampleIds.key },
        body: { overlap_seconds: 3600 },
        status: 200,
      },
    ],
    answers: [ok('The key, with its new secret.', keyWithSecretShape)],
    refuses: ['scope_denied', 'not_found', 'conflict'],
  }),
  operation('revokeKey', 'POST /v1/keys/:id/revoke', 'Revoke a key', {
    about:
      'Stops it and all under it, for good; twice is 200. Any key gives up itself (`self`); a ' +
      'key below needs `keys:mint`.',
    access: 'any',
    path: keyId,
    answers: [ok('The key as it is now.', keyShape)],
    refuses: ['scope_denied', 'not_found'],
  }),
]

export const keysArea = area('keys', 'programs', 'Keys', {
  about:
    'A key spends the balance of its account, up to its cap and until its expiry. It acts on ' +
    'itself and on the keys below it. Secrets are stored as their SHA-256 and shown once.',
  operations: [...reads, ...changes],
})
