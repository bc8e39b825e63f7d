/** Reference entries of runs: of a key and those below it, and of an account. */

import * as t from '../web/http/shape.ts'
import * as r from '../web/reference/entry.ts'
import { ownRunQuery, runQuery } from './api/list-query.ts'
import { runBody } from './api/run-body.ts'
import { quotedRefusals, receiptHeaders } from './protocols-reference.ts'
import {
  followEventShape,
  runEventShape,
  runPageShape,
  runShape,
  runWithReceiptShape,
} from './shapes.ts'

const model = 'counterfoil/echo-1'

const { get, post } = r.entriesUnder('/v1/runs', {
  access: 'runs:read',
  path: { id: t.id('run', 'Id of a run.') },
})

const stopped =
  'Stops it at once. Once its request was sent to a model server, its input is charged, and ' +
  'what it had delivered. One that ended is a 409.'

// Tests have no run that is in flight while they ask: the answer is that it ended.
const ended = [{ name: 'A run that ended', status: 409 }]

const eventSample =
  'data: {"type":"run.output.delta","choices":[{"index":0,"delta":{"content":"Every"}}]}\n\n' +
  'data: {"type":"run.completed","run":{"id":"run_…","status":"succeeded"},' +
  '"receipt":{"id":"rcpt_…"}}\n\n'

const operations = [
  post('createRun', '', 'Run a model', {
    about:
      'A run with everything it has: `input` or `messages`; what OpenAI calls options stands in ' +
      '`params`. With `background: true` the answer is 202 and the output is kept until an hour ' +
      'after the end; other runs give it in their own answer only.',
    access: 'runs:write',
    body: runBody,
    isIdempotent: true,
    examples: [
      {
        name: 'One question',
        body: { model, input: 'Every run leaves a receipt.', max_output_tokens: 64 },
      },
      {
        name: 'In the background, with tags',
        body: { model, input: 'Later is fine.', background: true, tags: { task: 'demo' } },
        status: 202,
      },
      { name: 'Streamed', body: { model, input: 'Word by word.', stream: true } },
    ],
    answers: [
      {
        status: 200,
        about: 'The run, its output and its receipt; with `stream: true` events.',
        headers: receiptHeaders,
        content: { ...r.json(runWithReceiptShape), ...r.events(runEventShape, eventSample) },
      },
      r.ok('A run in the background.', runShape, undefined, 202),
    ],
    refuses: quotedRefusals,
  }),
  get('listRuns', '', 'List runs', {
    about: 'Of the key and the keys below it, newest first, as far back as the plan says.',
    query: runQuery.parameters,
    examples: [{ name: 'What went well', query: { status: 'succeeded' } }],
    answers: r.ok('A page of runs.', runPageShape),
  }),
  get('showRun', '/:id', 'One run', {
    about: 'With its output where it ran in the background and that is still kept.',
    answers: r.ok('The run.', runShape),
  }),
  get('followRun', '/:id/events', 'Follow a run', {
    about: 'Its state as events until it ends, and the output of a background run as it comes.',
    answers: {
      status: 200,
      about:
        'What happens to it. Unnamed server-sent events with a `type`: `run.status`, ' +
        '`run.output.delta`, `run.ended`.',
      content: r.events(
        followEventShape,
        'data: {"type":"run.status","run":{"id":"run_…","status":"running"}}\n\n' +
          'data: {"type":"run.ended","run":{"id":"run_…","status":"succeeded"}}\n\n',
      ),
    },
  }),
  post('cancelRun', '/:id/cancel', 'Cancel a run', {
    about: stopped,
    access: 'runs:write',
    examples: ended,
    answers: r.ok('The run as it is now.', runShape),
    refuses: ['conflict'],
  }),
]

export const runsArea = r.area('runs', 'programs', 'Runs', {
  about:
    'A run is one request to a model: the most it can cost is reserved, then what it used is ' +
    'charged. `queued` (in the background), `running`, then `succeeded`, `failed`, `cancelled` ' +
    'or `interrupted`. A failure before any output costs nothing.',
  operations,
})

const own = r.entriesUnder('/api/portal/runs', {
  path: { id: t.id('run', 'Id of a run of the account.') },
})

const ofKeys = r.entriesUnder('/api/portal/keys', {
  path: { id: t.id('key', 'Id of a key of the account.') },
})

export const ownRunsArea = r.area('own-runs', 'dashboard', 'Runs of an account', {
  about: 'All runs of the signed-in account.',
  operations: [
    own.get('listOwnRuns', '', 'List runs of the account', {
      about: `Of all its keys, newest first, as far back as the plan says. ${r.goesOn}`,
      query: ownRunQuery.parameters,
      examples: [{ name: 'What went well', query: { status: 'succeeded' } }],
      answers: r.shown('A page of runs.', runPageShape),
    }),
    own.get('followOwnRuns', '/live', 'Follow the list of runs', {
      about:
        'Brings a page the runs that are newer, and those it shows whenever their state moves on.',
      query: {
        ...ownRunQuery.parameters,
        since: t.text('The newest run that the page shows.', t.sampleIds.run),
        open: t.text(
          'Runs it shows that are not final, with commas; at most 100.',
          t.sampleIds.run,
        ),
      },
      answers: r.followed('What is new.'),
      refuses: ['rate_limited'],
    }),
    own.get('showOwnRun', '/:id', 'One run of the account', {
      about: 'A run of others is the same 404 as none.',
      answers: r.shown('The run.', runShape),
    }),
    own.get('followOwnRun', '/:id/live', 'Follow a run of the account', {
      about: 'Keeps the page of a run up to date. Programs follow `GET /v1/runs/:id/events`.',
      query: { mark: t.text('What the page shows already.', 'running') },
      answers: r.followed('The page of the run.'),
      refuses: ['rate_limited'],
    }),
    ofKeys.get('awaitFirstRun', '/:id/live', 'Wait for the first run of a key', {
      about: 'Keeps the page of a new key up to date until its first run has a receipt.',
      query: { mark: t.text('What the page shows already.', 'none') },
      answers: r.followed('The state of the first run.'),
      refuses: ['rate_limited'],
    }),
    own.post('cancelOwnRun', '/:id/cancel', 'Cancel a run of the account', {
      about: stopped,
      examples: ended,
      answers: r.done('The run as it is now.', runShape),
      refuses: ['conflict'],
    }),
  ],
})
