/** Reference entries of the runs and receipts of an account. */
import { evidenceFileShape } from '../../../proof/attested/shapes.ts'
import { shareBody } from '../../../proof/receipts/api/share-body.ts'
import { shareForm } from '../../../proof/receipts/portal/share-form.ts'
import {
  erasureShape,
  ownReceiptFileShape,
  ownReceiptPageShape,
  receiptFileShape,
  shareShape,
} from '../../../proof/receipts/shapes.ts'
import { runPageShape, runShape } from '../../../runs/shapes.ts'
import * as t from '../../../web/http/shape.ts'
import { done, followed, shown } from '../browser-answers.ts'
import { area, ok, operation, pageQuery } from '../entry.ts'

const statuses = ['succeeded', 'queued', 'running', 'failed', 'cancelled', 'interrupted']
const visibility = t.oneOf('Who may see it.', ['private', 'unlisted', 'public'])
const runPath = { id: t.id('run', 'Id of a run of the account.') }
const receiptPath = { id: t.id('rcpt', 'Id of a receipt of the account.') }
const aRun = { name: 'A run', path: { id: t.sampleIds.run }, status: 200 }
const aReceipt = { name: 'A receipt', path: { id: t.sampleIds.rcpt }, status: 200 }
const goesOn = 'With a filter a page may be short: go on after its `last_id`.'

const sort = t.oneOf('`costliest`: those that match among the 10,000 newest, in one page.', [
  'newest',
  'costliest',
])

const times = {
  from: t.text('A date (UTC) or an RFC 3339 time.', '2026-08-01'),
  to: t.text('A date, which is included, or a time.', '2026-08-31'),
  last: t.oneOf('Only those of this time up to now; `from` goes before it.', ['24h', '7d', '30d']),
}

const named =
  'By the id of a run or of its receipt: whole, its beginning, or both ends as pages show them, ' +
  '`rcpt_01m8…r6tk83`.'

const filter = {
  status: t.oneOf('Only those.', statuses),
  model: t.text('Only those of a model.', 'counterfoil/echo-1'),
  key: t.text('Only those of a key.', t.sampleIds.key),
  tag: t.text('Only those with a tag: `name:value`.', 'team:research'),
  ...times,
  sort,
  id: t.text(named, t.sampleIds.run),
}

const runs = [
  operation('listOwnRuns', 'GET /api/portal/runs', 'List runs of the account', {
    about: `Of all its keys, newest first, as far back as the plan says. ${goesOn}`,
    access: 'session',
    query: { ...pageQuery(t.sampleIds.run), ...filter },
    examples: [{ name: 'What went well', query: { status: 'succeeded' }, status: 200 }],
    answers: [shown('A page of runs.', runPageShape)],
  }),
  operation('followOwnRuns', 'GET /api/portal/runs/live', 'Follow the list of runs', {
    about:
      'Brings a page the runs that are newer, and those it shows whenever their state moves on.',
    access: 'session',
    query: {
      ...filter,
      since: t.text('The newest run that the page shows.', t.sampleIds.run),
      open: t.text('Runs it shows that are not final, with commas; at most 100.', t.sampleIds.run),
    },
    answers: [followed('What is new.')],
    refuses: ['rate_limited'],
  }),
  operation('showOwnRun', 'GET /api/portal/runs/:id', 'One run of the account', {
    about: 'A run of others is the same 404 as none.',
    access: 'session',
    path: runPath,
    answers: [shown('The run.', runShape)],
    refuses: ['not_found'],
  }),
  operation('followOwnRun', 'GET /api/portal/runs/:id/live', 'Follow a run of the account', {
    about: 'Keeps the page of a run up to date. Programs follow `GET /v1/runs/:id/events`.',
    access: 'session',
    path: runPath,
    query: { mark: t.text('What the page shows already.', 'running') },
    answers: [followed('The page of the run.')],
    refuses: ['not_found', 'rate_limited'],
  }),
  operation('cancelOwnRun', 'POST /api/portal/runs/:id/cancel', 'Cancel a run of the account', {
    about:
      'Stops it at once. Once its request was sent to a model server, its input is charged, and ' +
      'what it had delivered. One that ended is a 409.',
    access: 'session',
    path: runPath,
    examples: [{ ...aRun, name: 'A run that ended', status: 409 }],
    answers: done('The run as it is now.', runShape),
    refuses: ['not_found', 'conflict'],
  }),
]

const receiptFilter = {
  visibility,
  model: t.text('Only those of a model.', 'counterfoil/echo-1'),
  ...times,
  id: t.text(named, t.sampleIds.rcpt),
}

const receipts = [
  operation('listOwnReceipts', 'GET /api/portal/receipts', 'List receipts of the account', {
    about: `Newest first, without texts and proofs. ${goesOn}`,
    access: 'session',
    query: {
      ...pageQuery(t.sampleIds.rcpt),
      ...receiptFilter,
      sort,
    },
    examples: [
      { name: 'First page', query: { limit: '20' }, status: 200 },
      { name: 'Of the last day', query: { last: '24h' }, status: 200 },
    ],
    answers: [shown('A page of receipts.', ownReceiptPageShape)],
  }),
  operation('followOwnReceipts', 'GET /api/portal/receipts/live', 'Follow the list of receipts', {
    about: 'Brings a page the receipts that are newer, and those it shows as they move on.',
    access: 'session',
    query: {
      ...receiptFilter,
      since: t.text('The newest receipt that the page shows.', t.sampleIds.rcpt),
      open: t.text('Those it shows that are not final, with commas.', t.sampleIds.rcpt),
    },
    answers: [followed('What is new.')],
    refuses: ['rate_limited'],
  }),
  operation('showOwnReceipt', 'GET /api/portal/receipts/:id', 'One receipt of the account', {
    about: 'The complete file, and who else may see it.',
    access: 'session',
    path: receiptPath,
    answers: [ok('The file, with its share.', ownReceiptFileShape)],
    refuses: ['receipt_not_found', 'log_diverged'],
  }),
  operation(
    'downloadOwnReceipt',
    'GET /api/portal/receipts/:id/file',
    'A receipt of the account as a file',
    {
      about: 'The file alone, as a download: what `POST /v1/receipts/verify` takes.',
      access: 'session',
      path: receiptPath,
      answers: [
        ok('The file.', receiptFileShape, {
          'Content-Disposition': t.text('Its name.', 'attachment; filename="rcpt_….receipt.json"'),
        }),
      ],
      refuses: ['receipt_not_found', 'log_diverged'],
    },
  ),
  operation(
    'downloadEvidence',
    'GET /api/portal/receipts/:id/evidence',
    'What the upstream of a run signed',
    {
      about: 'As a download: what `counterfoil verify --evidence` takes.',
      access: 'session',
      path: receiptPath,
      examples: [
        { name: 'Of an upstream that does not sign', path: { id: t.sampleIds.rcpt }, status: 404 },
      ],
      answers: [
        ok('The file.', evidenceFileShape, {
          'Content-Disposition': t.text('Its name.', 'attachment; filename="rcpt_….evidence.json"'),
        }),
      ],
      refuses: ['receipt_not_found', 'not_found'],
    },
  ),
  operation(
    'shareOwnReceipt',
    'POST /api/portal/receipts/:id/share',
    'Share a receipt of the account',
    {
      about:
        'As `POST /v1/receipts/:id/share`. A form names sections and texts by their boxes; ' +
        'without any section the server uses the default ones.',
      access: 'session',
      path: receiptPath,
      body: { schema: shareBody, form: shareForm },
      examples: [
        { ...aReceipt, name: 'For those who have the link', body: { visibility: 'unlisted' } },
        {
          ...aReceipt,
          name: 'From a form',
          form: { visibility: 'public', 'sections.run': 'true', 'sections.charge': 'true' },
        },
      ],
      answers: done('How it is shown now.', shareShape),
      refuses: ['receipt_not_found', 'unprocessable', 'conflict'],
    },
  ),
  operation(
    'eraseOwnReceipt',
    'POST /api/portal/receipts/:id/erase',
    'Erase texts of the account',
    {
      about: 'As `POST /v1/receipts/:id/erase`: for good. A public one is a 409.',
      access: 'session',
      path: receiptPath,
      answers: done('When that was.', erasureShape),
      refuses: ['receipt_not_found', 'conflict'],
    },
  ),
]

export const ownRunsArea = area('own-runs', 'dashboard', 'Runs of an account', {
  about: 'All runs of the signed-in account.',
  operations: runs,
})

export const ownReceiptsArea = area('own-receipts', 'dashboard', 'Receipts of an account', {
  about: 'All receipts of the signed-in account, and who else may see them.',
  operations: receipts,
})
