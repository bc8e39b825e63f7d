/** Reference entries of receipts. */
import { evidenceFileShape } from '../../../proof/attested/shapes.ts'
import { proofFormat, proofShape, proofSize, tlogSample } from '../../../proof/log/shapes.ts'
import { shareBody } from '../../../proof/receipts/api/share-body.ts'
import {
  erasureShape,
  receiptFileShape,
  receiptPageShape,
  shareShape,
  verdictShape,
  verifyRequestShape,
} from '../../../proof/receipts/shapes.ts'
import * as t from '../../../web/http/shape.ts'
import { area, json, media, ok, operation, pageQuery } from '../entry.ts'

const receiptId = { id: t.id('rcpt', 'Id of a receipt.') }
const _one = { name: 'A receipt', path: { id: t.sampleIds.rcpt }, status: 200 }

const reads = [
  operation('showReceipt', 'GET /v1/receipts/:id', 'A receipt', {
    about:
      "Without a key: a shared receipt as its owner shows it. With the owner's key (of the run " +
      'or above it, `receipts:read`): all of it, with salts, kept texts and its visibility. A ' +
      'private, an unknown and a malformed id answer alike. A shared one has an ETag.',
    access: 'optional',
    path: receiptId,
    answers: [
      ok('The file.', receiptFileShape),
      { status: 304, about: 'Unchanged since `If-None-Match`.', content: {} },
    ],
    refuses: ['receipt_not_found', 'unavailable'],
  }),
  operation('showProof', 'GET /v1/receipts/:id/proof', 'Its proof', {
    about:
      'That the receipt is in the log: hashes only, of private ones too. Under the smallest ' +
      'checkpoint on the chain that covers it, else under the latest. `format=evidence` is what ' +
      'the upstream of the run signed: for a key of its account, and for everybody where the ' +
      'receipt is shared with its section `run` and its input.',
    access: 'optional',
    path: receiptId,
    query: { size: proofSize, format: proofFormat },
    answers: [
      {
        ...ok('The proof.', proofShape),
        content: {
          ...json(t.either('', [proofShape, evidenceFileShape])),
          ...media('text/plain', 'With `format=tlog`.', tlogSample),
        },
      },
    ],
    refuses: ['receipt_not_found', 'not_found', 'unavailable', 'log_diverged', 'log_damaged'],
  }),
  operation('verifyReceipt', 'POST /v1/receipts/verify', 'Verify a receipt', {
    about:
      'Judges a file, at most 1 MiB. A readable file that is wrong is 200 with `valid: false`, ' +
      'also one with an unknown or repeated member. The chain that is asked is the one of this ' +
      'server, never one that the file names.',
    access: 'none',
    body: { schema: verifyRequestShape },
    examples: [
      { name: 'A shared receipt of this server', body: { id: t.sampleIds.rcpt }, status: 200 },
      {
        name: 'Without asking the chain',
        body: { id: t.sampleIds.rcpt, options: { chain: 'skip' } },
        status: 200,
      },
    ],
    answers: [ok('The verdict.', verdictShape)],
    refuses: ['receipt_not_found', 'unprocessable', 'unavailable'],
  }),
  operation('listReceipts', 'GET /v1/receipts', 'List receipts', {
    about: 'Of the key and the keys below it, newest first, without texts.',
    access: 'receipts:read',
    query: pageQuery(t.sampleIds.rcpt),
    examples: [{ name: 'First page', query: { limit: '20' }, status: 200 }],
    answers: [ok('A page of receipts.', receiptPageShape)],
  }),
]

const changes = [
  operation('shareReceipt', 'POST /v1/receipts/:id/share', 'Share a receipt', {
    about:
      'Shares the receipt, changes how it is shared, or takes it back (`private`), at once. ' +
      'Copies made meanwhile cannot be recalled. A text that is missing or differs from the ' +
      'commitment of the receipt is a 422.',
    access: 'receipts:share',
    path: receiptId,
    body: { schema: shareBody },
    examples: [
      {
        name: 'Show what ran and what it cost',
        path: { id: t.sampleIds.rcpt },
        body: { visibility: 'public', sections: ['run', 'charge'] },
        status: 200,
      },
      {
        name: 'Take it back',
        path: { id: t.sampleIds.rcpt },
        body: { visibility: 'private' },
        status: 200,
      },
    ],
    answers: [ok('How it is shown now.', shareShape)],
    refuses: ['receipt_not_found', 'unprocessable', 'conflict'],
  }),
  operation('eraseReceipt', 'POST /v1/receipts/:id/erase', 'Erase its texts', {
    about:
      'Deletes for good what its texts could be found by. The receipt, its signature and its ' +
      'proof hold as before. A public one is a 409: unshare it first. Twice is 200.',
    access: 'receipts:share',
    path: receiptId,
    answers: [ok('When that was.', erasureShape)],
    refuses: ['receipt_not_found', 'conflict'],
  }),
]

export const receiptsArea = area('receipts', 'programs', 'Receipts', {
  about:
    'Every run that reached a model leaves a receipt: EIP-712 typed data, signed, and a leaf of ' +
    'the log. It is private until its owner shares it. Sections can be hidden without breaking ' +
    'the signature.',
  operations: [...reads, ...changes],
})
