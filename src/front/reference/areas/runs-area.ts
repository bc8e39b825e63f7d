/** Reference entries of runs. */
import { runBody } from '../../../runs/api/run-body.ts'
import {
  followEventShape,
  runEventShape,
  runPageShape,
  runShape,
  runWithReceiptShape,
} from '../../../runs/shapes.ts'
import * as t from '../../../web/http/shape.ts'
import { area, events, json, ok, operation, pageQuery } from '../entry.ts'
import { quotedRefusals, receiptHeaders } from './openai-area.ts'

const echo = 'counterfoil/echo-1'
const statuses = ['succeeded', 'queued', 'running', 'failed', 'cancelled', 'interrupted']
const runId = { id: t.id('run', 'Id of a run.') }

const followed = (about: string, types: string, sample: string) => ({
  status: 200,
  about: `${about} Unnamed server-sent events with a \`type\`: ${types}.`,
  content: events(followEventShape, sample),
})

const eventSample =
  'data: {"type":"run.output.delta","choices":[{"index":0,"delta":{"content":"Every"}}]}\n\n' +
  'data: {"type":"run.completed","run":{"id":"run_…","status":"succeeded"},' +
  '"receipt":{"id":"rcpt_…"}}\n\n'

const operations = [
  operation('createRun', 'POST /v1/runs', 'Run a model', {
    about:
      'A run with everything it has: `input` or `messages`; what OpenAI calls options stands in ' +
      '`params`. With `background: true` the answer is 202 and the output is kept until an hour ' +
      'after the end; other runs give it in their own answer only.',
    access: 'runs:write',
    body: { schema: runBody },
    isIdempotent: true,
    examples: [
      {
        name: 'One question',
        body: { model: echo, input: 'Every run leaves a receipt.', max_output_tokens: 64 },
        status: 200,
      },
      {
        name: 'In the background, with tags',
        body: { model: echo, input: 'Later is fine.', background: true, tags: { task: 'demo' } },
        status: 202,
      },
      {
        name: 'Streamed',
        body: { model: echo, input: 'Word by word.', stream: true },
        status: 200,
      },
    ],
    answers: [
      {
        status: 200,
        about: 'The run, its output and its receipt; with `stream: true` events.',
        headers: receiptHeaders,
        content: {
          ...json(runWithReceiptShape),
          ...events(runEventShape, eventSample),
        },
      },
      { status: 202, about: 'A run in the background.', content: json(runShape) },
    ],
    refuses: quotedRefusals,
  }),
  operation('listRuns', 'GET /v1/runs', 'List runs', {
    about: 'Of the key and the keys below it, newest first, as far back as the plan says.',
    access: 'runs:read',
    query: {
      ...pageQuery(t.sampleIds.run),
      status: t.oneOf('Only those.', statuses),
      model: t.text('Only those of a model.', echo),
    },
    examples: [{ name: 'What went well', query: { status: 'succeeded' }, status: 200 }],
    answers: [ok('A page of runs.', runPageShape)],
  }),
  operation('showRun', 'GET /v1/runs/:id', 'One run', {
    about: 'With its output where it ran in the background and that is still kept.',
    access: 'runs:read',
    path: runId,
    answers: [ok('The run.', runShape)],
    refuses: ['not_found'],
  }),
  operation('followRun', 'GET /v1/runs/:id/events', 'Follow a run', {
    about: 'Its state as events until it ends, and the output of a background run as it comes.',
    access: 'runs:read',
    path: runId,
    answers: [
      followed(
        'What happens to it.',
        '`run.status`, `run.output.delta`, `run.ended`',
        'data: {"type":"run.status","run":{"id":"run_…","status":"running"}}\n\n' +
          'data: {"type":"run.ended","run":{"id":"run_…","status":"succeeded"}}\n\n',
      ),
    ],
    refuses: ['not_found'],
  }),
  operation('cancelRun', 'POST /v1/runs/:id/cancel', 'Cancel a run', {
    about:
      'Stops it at once. Once its request was sent to a model server, its input is charged, and ' +
      'what it had delivered. One that ended is a 409.',
    access: 'runs:write',
    path: runId,
    // Tests have no run that is in flight while they ask: the answer is that it ended.
    examples: [{ name: 'A run that ended', path: { id: t.sampleIds.run }, status: 409 }],
    answers: [ok('The run as it is now.', runShape)],
    refuses: ['not_found', 'conflict'],
  }),
]

export const runsArea = area('runs', 'programs', 'Runs', {
  about:
    'A run is one request to a model: the most it can cost is reserved, then what it used is ' +
    'charged. `queued` (in the background), `running`, then `succeeded`, `failed`, `cancelled` ' +
    'or `interrupted`. A failure before any output costs nothing.',
  operations,
})
