import { shareForm } from '../../../proof/receipts/portal/share-form.ts'
import { done, followed, shown } from '../browser-answers.ts'
import { type Area, type Operation, ok } from '../operation.ts'
import {
  hash,
  id,
  nusd,
  object,
  oneOf,
  only,
  page,
  ref,
  type Schemas,
  sampleIds,
  text,
  time,
} from '../schema.ts'
import { shapeOf } from '../shape.ts'
import { pageQuery } from './keys-area.ts'
import { receiptFileMembers } from './receipts-schemas.ts'

const statuses = ['succeeded', 'queued', 'running', 'failed', 'cancelled', 'interrupted']
const visibility = oneOf('Who may see it.', ['private', 'unlisted', 'public'])
const runPath = { id: id('run', 'Id of a run of the account.') }
const receiptPath = { id: id('rcpt', 'Id of a receipt of the account.') }
const aRun = { name: 'A run', path: { id: sampleIds.run }, status: 200 }
const aReceipt = { name: 'A receipt', path: { id: sampleIds.rcpt }, status: 200 }
const goesOn = 'With a filter a page may be short: go on after its `last_id`.'

const filter = {
  status: oneOf('Only those.', statuses),
  model: text('Only those of a model.', 'counterfoil/echo-1'),
  key: text('Only those of a key.', sampleIds.key),
  tag: text('Only those with a tag: `name:value`.', 'team:research'),
  from: text('A date (UTC) or an RFC 3339 time.', '2026-08-01'),
  to: text('A date, which is included, or a time.', '2026-08-31'),
}

const schemas: Schemas = {
  OwnReceipt: object('A receipt in the list of its owner.', {
    id: id('rcpt', 'Id of the receipt.'),
    object: only('receipt'),
    run_id: id('run', 'The run.'),
    model: text('The model.', 'counterfoil/echo-1'),
    kind: oneOf('What kind of model.', ['chat', 'embedding']),
    outcome: text('How it ended.', 'complete'),
    cost_nusd: nusd('What was charged.', 4650),
    digest: hash('What was signed.'),
    issued_at: time('When.'),
    state: oneOf('How far it has come.', ['logged', 'signed', 'anchored', 'final']),
    visibility,
  }),
  OwnReceiptPage: page('Receipts of an account.', 'OwnReceipt'),
  OwnReceiptFile: object('A receipt file with all that its owner sees.', {
    ...receiptFileMembers,
    visibility,
    share: ref('Share'),
  }),
  ShareForm: shapeOf(shareForm),
}

const runs: readonly Operation[] = [
  {
    id: 'listOwnRuns',
    route: 'GET /api/portal/runs',
    title: 'List runs of the account',
    about: `Of all its keys, newest first, as far back as the plan says. ${goesOn}`,
    access: 'session',
    query: { ...pageQuery, ...filter },
    examples: [{ name: 'What went well', query: { status: 'succeeded' }, status: 200 }],
    answers: [shown('A page of runs.', ref('RunPage'))],
  },
  {
    id: 'followOwnRuns',
    route: 'GET /api/portal/runs/live',
    title: 'Follow the list of runs',
    about: 'Tells a page of runs that are newer, and of the end of those it shows.',
    access: 'session',
    query: {
      ...filter,
      since: text('The newest run that the page shows.', sampleIds.run),
      open: text('Runs in flight that it shows, with commas; at most 100.', sampleIds.run),
    },
    examples: [{ name: 'From the start', status: 200 }],
    answers: [followed('What is new.')],
    refuses: ['rate_limited'],
  },
  {
    id: 'showOwnRun',
    route: 'GET /api/portal/runs/:id',
    title: 'One run of the account',
    about: 'A run of others is the same 404 as none.',
    access: 'session',
    path: runPath,
    examples: [aRun],
    answers: [shown('The run.', ref('Run'))],
    refuses: ['not_found'],
  },
  {
    id: 'followOwnRun',
    route: 'GET /api/portal/runs/:id/live',
    title: 'Follow a run of the account',
    about: 'Keeps the page of a run up to date. Programs follow `GET /v1/runs/:id/events`.',
    access: 'session',
    path: runPath,
    query: { mark: text('What the page shows already.', 'running') },
    examples: [aRun],
    answers: [followed('The page of the run.')],
    refuses: ['not_found', 'rate_limited'],
  },
  {
    id: 'cancelOwnRun',
    route: 'POST /api/portal/runs/:id/cancel',
    title: 'Cancel a run of the account',
    about: 'Stops it at once. What it had delivered is charged. One that ended is a 409.',
    access: 'session',
    path: runPath,
    examples: [{ ...aRun, name: 'A run that ended', status: 409 }],
    answers: done('The run as it is now.', ref('Run')),
    refuses: ['not_found', 'conflict'],
  },
]

const receipts: readonly Operation[] = [
  {
    id: 'listOwnReceipts',
    route: 'GET /api/portal/receipts',
    title: 'List receipts of the account',
    about: `Newest first, without texts and proofs. ${goesOn}`,
    access: 'session',
    query: {
      ...pageQuery,
      after: text('`last_id` of the page before.', sampleIds.rcpt),
      visibility,
      model: text('Only those of a model.', 'counterfoil/echo-1'),
    },
    examples: [{ name: 'First page', query: { limit: '20' }, status: 200 }],
    answers: [shown('A page of receipts.', ref('OwnReceiptPage'))],
  },
  {
    id: 'showOwnReceipt',
    route: 'GET /api/portal/receipts/:id',
    title: 'One receipt of the account',
    about: 'The complete file, and who else may see it.',
    access: 'session',
    path: receiptPath,
    examples: [aReceipt],
    answers: [ok('The file, with its share.', ref('OwnReceiptFile'))],
    refuses: ['receipt_not_found', 'log_diverged'],
  },
  {
    id: 'downloadOwnReceipt',
    route: 'GET /api/portal/receipts/:id/file',
    title: 'A receipt of the account as a file',
    about: 'The file alone, as a download: what `POST /v1/receipts/verify` takes.',
    access: 'session',
    path: receiptPath,
    examples: [aReceipt],
    answers: [
      ok('The file.', ref('ReceiptFile'), {
        'Content-Disposition': text('Its name.', 'attachment; filename="rcpt_….receipt.json"'),
      }),
    ],
    refuses: ['receipt_not_found', 'log_diverged'],
  },
  {
    id: 'shareOwnReceipt',
    route: 'POST /api/portal/receipts/:id/share',
    title: 'Share a receipt of the account',
    about:
      'As `POST /v1/receipts/:id/share`. A form names sections and texts by their boxes; without ' +
      'any section the server uses the default ones.',
    access: 'session',
    path: receiptPath,
    body: { schema: ref('ShareWish'), form: ref('ShareForm') },
    examples: [
      { ...aReceipt, name: 'For those who have the link', body: { visibility: 'unlisted' } },
      {
        ...aReceipt,
        name: 'From a form',
        form: { visibility: 'public', 'sections.run': 'true', 'sections.charge': 'true' },
      },
    ],
    answers: done('How it is shown now.', ref('Share')),
    refuses: ['receipt_not_found', 'unprocessable', 'conflict'],
  },
  {
    id: 'eraseOwnReceipt',
    route: 'POST /api/portal/receipts/:id/erase',
    title: 'Erase texts of the account',
    about: 'As `POST /v1/receipts/:id/erase`: for good. A public one is a 409.',
    access: 'session',
    path: receiptPath,
    examples: [aReceipt],
    answers: done('When that was.', ref('Erasure')),
    refuses: ['receipt_not_found', 'conflict'],
  },
]

export const ownRunsArea: Area = {
  id: 'own-runs',
  group: 'dashboard',
  title: 'Runs and receipts of an account',
  about: 'All runs and receipts of the signed-in account, and who else may see them.',
  operations: [...runs, ...receipts],
  schemas,
}
