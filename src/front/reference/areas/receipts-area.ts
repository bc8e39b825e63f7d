import { type Area, type Operation, ok } from '../operation.ts'
import { id, integer, ref, sampleIds, text } from '../schema.ts'
import { pageQuery } from './keys-area.ts'
import { receiptSchemas } from './receipts-schemas.ts'

const receiptId = { id: id('rcpt', 'Id of a receipt.') }
const one = { name: 'A receipt', path: { id: sampleIds.rcpt }, status: 200 }

const reads: readonly Operation[] = [
  {
    id: 'showReceipt',
    route: 'GET /v1/receipts/:id',
    title: 'A receipt',
    about:
      "Without a key: a shared receipt as its owner shows it. With the owner's key (of the run " +
      'or above it, `receipts:read`): all of it, with salts, kept texts and its visibility. A ' +
      'private, an unknown and a malformed id answer alike. A shared one has an ETag.',
    access: 'optional',
    path: receiptId,
    examples: [one],
    answers: [
      ok('The file.', ref('ReceiptFile')),
      { status: 304, about: 'Unchanged since `If-None-Match`.', content: {} },
    ],
    refuses: ['receipt_not_found', 'unavailable'],
  },
  {
    id: 'showProof',
    route: 'GET /v1/receipts/:id/proof',
    title: 'Its proof',
    about:
      'That the receipt is in the log: hashes only, of private ones too. Under the smallest ' +
      'checkpoint on the chain that covers it, else under the latest.',
    access: 'none',
    path: receiptId,
    query: { size: integer('Another size of the log that was signed.', 12, { minimum: 1 }) },
    examples: [one],
    answers: [ok('The proof.', ref('Proof'))],
    refuses: ['receipt_not_found', 'unavailable', 'log_diverged'],
  },
  {
    id: 'verifyReceipt',
    route: 'POST /v1/receipts/verify',
    title: 'Verify a receipt',
    about:
      'Judges a file, at most 1 MiB. What is readable but wrong is 200 with `valid: false`, also ' +
      'a file with an unknown member or with one that stands twice. The chain that is asked is ' +
      'our own, never one that the file names.',
    access: 'none',
    body: { schema: ref('VerifyRequest') },
    examples: [
      { name: 'A shared receipt of this server', body: { id: sampleIds.rcpt }, status: 200 },
      {
        name: 'Without asking the chain',
        body: { id: sampleIds.rcpt, options: { chain: 'skip' } },
        status: 200,
      },
    ],
    answers: [ok('The verdict.', ref('Verdict'))],
    refuses: ['receipt_not_found', 'unprocessable', 'unavailable'],
  },
  {
    id: 'listReceipts',
    route: 'GET /v1/receipts',
    title: 'List receipts',
    about: 'Of the key and the keys below it, newest first, without texts.',
    access: 'receipts:read',
    query: { ...pageQuery, after: text('`last_id` of the page before.', sampleIds.rcpt) },
    examples: [{ name: 'First page', query: { limit: '20' }, status: 200 }],
    answers: [ok('A page of receipts.', ref('ReceiptPage'))],
  },
]

const changes: readonly Operation[] = [
  {
    id: 'shareReceipt',
    route: 'POST /v1/receipts/:id/share',
    title: 'Share a receipt',
    about:
      'Lets others see it, shows it otherwise, or takes it back (`private`), at once. Copies ' +
      'that somebody made meanwhile cannot be recalled. A text that is not there, or is not the ' +
      'one the receipt commits to, is a 422.',
    access: 'receipts:share',
    path: receiptId,
    body: { schema: ref('ShareWish') },
    examples: [
      {
        name: 'Show what ran and what it cost',
        path: { id: sampleIds.rcpt },
        body: { visibility: 'public', sections: ['run', 'charge'] },
        status: 200,
      },
      {
        name: 'Take it back',
        path: { id: sampleIds.rcpt },
        body: { visibility: 'private' },
        status: 200,
      },
    ],
    answers: [ok('How it is shown now.', ref('Share'))],
    refuses: ['receipt_not_found', 'unprocessable', 'conflict'],
  },
  {
    id: 'eraseReceipt',
    route: 'POST /v1/receipts/:id/erase',
    title: 'Erase its texts',
    about:
      'Deletes for good what its texts could be found by. The receipt, its signature and its ' +
      'proof hold as before. A public one is a 409: unshare it first. Twice is 200.',
    access: 'receipts:share',
    path: receiptId,
    examples: [one],
    answers: [ok('When that was.', ref('Erasure'))],
    refuses: ['receipt_not_found', 'conflict'],
  },
]

export const receiptsArea: Area = {
  id: 'receipts',
  group: 'programs',
  title: 'Receipts',
  about:
    'Every run that reached a model leaves a receipt: EIP-712 typed data, signed, and a leaf of ' +
    'the log. It is private until its owner shares it. Sections can be hidden without breaking ' +
    'the signature.',
  operations: [...reads, ...changes],
  schemas: receiptSchemas,
}
