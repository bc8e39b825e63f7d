/** Reference entries of receipts: as a key asks for them, and as the dashboard does. */
import * as t from '../../web/http/shape.ts'
import * as r from '../../web/reference/entry.ts'
import { proofFormat, proofShape, proofSize, tlogSample } from '../log/shapes.ts'
import { evidenceFileShape } from '../upstream-evidence/shapes.ts'
import { ownReceiptQuery } from './api/receipt-query.ts'
import { shareBody } from './api/share-body.ts'
import { shareForm } from './portal/share-form.ts'
import {
  erasureShape,
  ownReceiptFileShape,
  ownReceiptPageShape,
  receiptFileShape,
  receiptPageShape,
  shareShape,
  verdictShape,
  verifyRequestShape,
} from './shapes.ts'

const { get, post } = r.entriesUnder('/v1/receipts', {
  access: 'optional',
  path: { id: t.id('rcpt', 'Id of a receipt.') },
  missing: 'receipt_not_found',
})

const operations = [
  get('showReceipt', '/:id', 'A receipt', {
    about:
      "Without a key: a shared receipt as its owner shows it. With the owner's key (of the run " +
      'or above it, `receipts:read`): all of it, with salts, kept texts and its visibility. A ' +
      'private, an unknown and a malformed id answer alike. A shared one has an ETag.',
    answers: [
      r.ok('The file.', receiptFileShape),
      { status: 304, about: 'Unchanged since `If-None-Match`.', content: {} },
    ],
    refuses: ['unavailable'],
  }),
  get('showProof', '/:id/proof', 'Its proof', {
    about:
      'That the receipt is in the log: hashes only, of private ones too. Under the smallest ' +
      'checkpoint on the chain that covers it, else under the latest. `format=evidence` is what ' +
      'the upstream of the run signed: for a key of its account, and for everybody where the ' +
      'receipt is shared with its section `run` and its input.',
    query: { size: proofSize, format: proofFormat },
    answers: {
      ...r.ok('The proof.', proofShape),
      content: {
        ...r.json(t.either('', [proofShape, evidenceFileShape])),
        ...r.media('text/plain', 'With `format=tlog`.', tlogSample),
      },
    },
    refuses: ['receipt_not_found', 'not_found', 'unavailable', 'log_diverged', 'log_damaged'],
  }),
  post('verifyReceipt', '/verify', 'Verify a receipt', {
    about:
      'Judges a file, at most 1 MiB. A readable file that is wrong is 200 with `valid: false`, ' +
      'also one with an unknown or repeated member. The chain that is asked is the one of this ' +
      'server, never one that the file names.',
    access: 'none',
    body: verifyRequestShape,
    examples: [
      { name: 'A shared receipt of this server', body: { id: t.sampleIds.rcpt } },
      {
        name: 'Without asking the chain',
        body: { id: t.sampleIds.rcpt, options: { chain: 'skip' } },
      },
    ],
    answers: r.ok('The verdict.', verdictShape),
    refuses: ['receipt_not_found', 'unprocessable', 'unavailable'],
  }),
  get('listReceipts', '', 'List receipts', {
    about: 'Of the key and the keys below it, newest first, without texts.',
    access: 'receipts:read',
    query: r.pageQuery(t.sampleIds.rcpt),
    answers: r.ok('A page of receipts.', receiptPageShape),
  }),
  post('shareReceipt', '/:id/share', 'Share a receipt', {
    about:
      'Shares the receipt, changes how it is shared, or takes it back (`private`), at once. ' +
      'Copies made meanwhile cannot be recalled. A text that is missing or differs from the ' +
      'commitment of the receipt is a 422.',
    access: 'receipts:share',
    body: shareBody,
    examples: [
      {
        name: 'Show what ran and what it cost',
        body: { visibility: 'public', sections: ['run', 'charge'] },
      },
      { name: 'Take it back', body: { visibility: 'private' } },
    ],
    answers: r.ok('How it is shown now.', shareShape),
    refuses: ['unprocessable', 'conflict'],
  }),
  post('eraseReceipt', '/:id/erase', 'Erase its texts', {
    about:
      'Deletes for good what its texts could be found by. The receipt, its signature and its ' +
      'proof hold as before. A public one is a 409: unshare it first. Twice is 200.',
    access: 'receipts:share',
    answers: r.ok('When that was.', erasureShape),
    refuses: ['conflict'],
  }),
]

export const receiptsArea = r.area('receipts', 'programs', 'Receipts', {
  about:
    'Every run that reached a model leaves a receipt: EIP-712 typed data, signed, and a leaf of ' +
    'the log. It is private until its owner shares it. Sections can be hidden without breaking ' +
    'the signature.',
  operations,
})

const download = (about: string, schema: t.TSchema, kind: string) =>
  r.ok(about, schema, {
    'Content-Disposition': t.text('Its name.', `attachment; filename="rcpt_….${kind}.json"`),
  })

const own = r.entriesUnder('/api/portal/receipts', {
  path: { id: t.id('rcpt', 'Id of a receipt of the account.') },
  missing: 'receipt_not_found',
})

export const ownReceiptsArea = r.area('own-receipts', 'dashboard', 'Receipts of an account', {
  about: 'All receipts of the signed-in account, and who else may see them.',
  operations: [
    own.get('listOwnReceipts', '', 'List receipts of the account', {
      about: `Newest first, without texts and proofs. ${r.goesOn}`,
      query: ownReceiptQuery.parameters,
      examples: [
        { name: 'First page', query: { limit: '20' } },
        { name: 'Of the last day', query: { last: '24h' } },
      ],
      answers: r.shown('A page of receipts.', ownReceiptPageShape),
    }),
    own.get('followOwnReceipts', '/live', 'Follow the list of receipts', {
      about: 'Brings a page the receipts that are newer, and those it shows as they move on.',
      query: {
        ...ownReceiptQuery.parameters,
        since: t.text('The newest receipt that the page shows.', t.sampleIds.rcpt),
        open: t.text('Those it shows that are not final, with commas.', t.sampleIds.rcpt),
      },
      answers: r.followed('What is new.'),
      refuses: ['rate_limited'],
    }),
    own.get('showOwnReceipt', '/:id', 'One receipt of the account', {
      about: 'The complete file, and who else may see it.',
      answers: r.ok('The file, with its share.', ownReceiptFileShape),
      refuses: ['log_diverged'],
    }),
    own.get('downloadOwnReceipt', '/:id/file', 'A receipt of the account as a file', {
      about: 'The file alone, as a download: what `POST /v1/receipts/verify` takes.',
      answers: download('The file.', receiptFileShape, 'receipt'),
      refuses: ['log_diverged'],
    }),
    own.get('downloadEvidence', '/:id/evidence', 'What the upstream of a run signed', {
      about: 'As a download: what `counterfoil verify --evidence` takes.',
      examples: [{ name: 'Of an upstream that does not sign', status: 404 }],
      answers: download('The file.', evidenceFileShape, 'evidence'),
      refuses: ['receipt_not_found', 'not_found'],
    }),
    own.post('shareOwnReceipt', '/:id/share', 'Share a receipt of the account', {
      about:
        'As `POST /v1/receipts/:id/share`. A form names sections and texts by their boxes; ' +
        'without any section the server uses the default ones.',
      body: { schema: shareBody, form: shareForm },
      examples: [
        { name: 'For those who have the link', body: { visibility: 'unlisted' } },
        {
          name: 'From a form',
          form: { visibility: 'public', 'sections.run': 'true', 'sections.charge': 'true' },
        },
      ],
      answers: r.done('How it is shown now.', shareShape),
      refuses: ['unprocessable', 'conflict'],
    }),
    own.post('eraseOwnReceipt', '/:id/erase', 'Erase texts of the account', {
      about: 'As `POST /v1/receipts/:id/erase`: for good. A public one is a 409.',
      answers: r.done('When that was.', erasureShape),
      refuses: ['conflict'],
    }),
  ],
})
