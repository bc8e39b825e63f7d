import { type Area, json, type Operation, ok } from '../operation.ts'
import {
  anything,
  closed,
  flag,
  id,
  integer,
  list,
  map,
  nusd,
  object,
  oneOf,
  only,
  orNull,
  page,
  pusd,
  ref,
  type Schemas,
  sampleIds,
  text,
  time,
  usuallyNull,
} from '../schema.ts'
import { pageQuery } from './keys-area.ts'
import { fit, fitted, receiptHeaders, spendRefusals } from './openai-area.ts'

const echo = 'counterfoil/echo-1'
const statuses = ['succeeded', 'queued', 'running', 'failed', 'cancelled', 'interrupted']
const runId = { id: id('run', 'Id of a run.') }

const events = (about: string, types: string, sample: string) => ({
  status: 200,
  about: `${about} Unnamed server-sent events with a \`type\`: ${types}.`,
  content: { 'text/event-stream': { schema: text('Server-sent events.', ''), sample } },
})

const eventSample =
  'data: {"type":"run.output.delta","choices":[{"index":0,"delta":{"content":"Every"}}]}\n\n' +
  'data: {"type":"run.completed","run":{"id":"run_…","status":"succeeded"},' +
  '"receipt":{"id":"rcpt_…"}}\n\n'

const operations: readonly Operation[] = [
  {
    id: 'createRun',
    route: 'POST /v1/runs',
    title: 'Run a model',
    about:
      'A run with everything it has: `input` or `messages`; what OpenAI calls options stands in ' +
      '`params`. With `background: true` the answer is 202 and the output is kept until an hour ' +
      'after the end; other runs give it in their own answer only.',
    access: 'runs:write',
    body: { schema: ref('RunRequest') },
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
          'application/json': { schema: ref('RunWithReceipt') },
          'text/event-stream': { schema: text('Server-sent events.', ''), sample: eventSample },
        },
      },
      { status: 202, about: 'A run in the background.', content: json(ref('Run')) },
    ],
    refuses: spendRefusals,
  },
  {
    id: 'listRuns',
    route: 'GET /v1/runs',
    title: 'List runs',
    about: 'Of the key and the keys below it, newest first, as far back as the plan says.',
    access: 'runs:read',
    query: {
      ...pageQuery,
      status: oneOf('Only those.', statuses),
      model: text('Only those of a model.', echo),
    },
    examples: [{ name: 'What went well', query: { status: 'succeeded' }, status: 200 }],
    answers: [ok('A page of runs.', ref('RunPage'))],
  },
  {
    id: 'showRun',
    route: 'GET /v1/runs/:id',
    title: 'One run',
    about: 'With its output where it ran in the background and that is still kept.',
    access: 'runs:read',
    path: runId,
    examples: [{ name: 'A run', path: { id: sampleIds.run }, status: 200 }],
    answers: [ok('The run.', ref('Run'))],
    refuses: ['not_found'],
  },
  {
    id: 'followRun',
    route: 'GET /v1/runs/:id/events',
    title: 'Follow a run',
    about: 'Its state as events until it ends, and the output of a background run as it comes.',
    access: 'runs:read',
    path: runId,
    examples: [{ name: 'A run', path: { id: sampleIds.run }, status: 200 }],
    answers: [
      events(
        'What happens to it.',
        '`run.status`, `run.output.delta`, `run.ended`',
        'data: {"type":"run.status","run":{"id":"run_…","status":"running"}}\n\n' +
          'data: {"type":"run.ended","run":{"id":"run_…","status":"succeeded"}}\n\n',
      ),
    ],
    refuses: ['not_found'],
  },
  {
    id: 'cancelRun',
    route: 'POST /v1/runs/:id/cancel',
    title: 'Cancel a run',
    about: 'Stops it at once. What it had delivered is charged. One that ended is a 409.',
    access: 'runs:write',
    path: runId,
    // Tests have no run that is in flight while they ask: the answer is that it ended.
    examples: [{ name: 'A run that ended', path: { id: sampleIds.run }, status: 409 }],
    answers: [ok('The run as it is now.', ref('Run'))],
    refuses: ['not_found', 'conflict'],
  },
]

const runMembers = {
  id: id('run', 'Id of the run.'),
  object: only('run'),
  status: oneOf('How it is.', statuses),
  kind: oneOf('What kind of model.', ['chat', 'embedding']),
  model: text('The model.', echo),
  route: text('`upstream:model` that ran it; empty before.', 'builtin:counterfoil/echo-1'),
  key_id: id('key', 'The key that pays.'),
  created_at: time('When it was held for.'),
  started_at: orNull(time('When it began.')),
  first_byte_at: orNull(time('When its first output came.')),
  finished_at: orNull(time('When it was settled.')),
  hold_nusd: nusd('Reserved for it: the most it could cost.', 48_000),
  lines: list(
    object('What is charged for.', {
      meter: oneOf('What was counted.', ['input', 'output', 'request']),
      quantity: integer('Units.', 5, { minimum: 0 }),
      price_pusd: pusd('Of one unit.', 150_000),
    }),
    'The amount follows from these.',
  ),
  'max_output_tokens?': fitted,
  cost_nusd: nusd('What was charged.', 4650),
  discount_bps: integer("The plan's discount, in hundredths of a percent.", 0),
  usage_source: orNull(oneOf('Who counted the units.', ['embedded', 'reported', 'counted'])),
  clamped: flag('Whether the units were lowered to the bound.', false),
  outcome: orNull(
    oneOf('How it ended.', ['complete', 'partial', 'failed', 'cancelled', 'interrupted']),
  ),
  error: usuallyNull(
    object('Why it did not complete.', {
      type: text('An error type.', 'upstream_error'),
      message: text('In words.', 'The model server failed.'),
    }),
  ),
  receipt_id: orNull(id('rcpt', 'Its receipt, once it ended.')),
  background: flag('Whether nobody waits for it.', false),
  tags: map(text('', 'demo'), "The caller's.", { task: 'demo' }),
  metadata: anything("The caller's, at most 4,096 bytes.", {}),
}

const output = anything('The choices, or the vectors.', [
  {
    index: 0,
    message: { role: 'assistant', content: 'Every run leaves a receipt.' },
    finish_reason: 'stop',
  },
])

const schemas: Schemas = {
  Run: object('One request to a model.', { ...runMembers, 'output?': output }),
  RunWithReceipt: object('A run that ended, with its output and its receipt.', {
    ...runMembers,
    output,
    receipt: ref('ReceiptLink'),
  }),
  RunPage: page('Runs.', 'Run'),
  RunRequest: object(
    'What to run: `input` or `messages`, one of them.',
    {
      model: text('A model of `GET /v1/models`.', echo),
      'input?': {
        description: 'The text; a list of texts for an embedding.',
        anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' }, minItems: 1 }],
        examples: ['Every run leaves a receipt.'],
      },
      'messages?': list(anything('A message.', { role: 'user', content: 'Hello.' }), 'Of a chat.', {
        minItems: 1,
      }),
      'max_output_tokens?': integer("The most tokens; default: the model's limit.", 64, {
        minimum: 1,
      }),
      'fit?': fit,
      'params?': map(anything('', 0), "OpenAI's options.", { temperature: 0 }),
      'stream?': flag('Whether the answer comes in pieces.', false),
      'background?': flag('Whether to answer at once and go on.', false),
      'tags?': map(text('', 'demo', { maxLength: 256 }), 'At most 8.', { task: 'demo' }),
      'metadata?': map(anything('', 0), 'At most 16 members, 4,096 bytes.', {}),
    },
    closed,
  ),
}

export const runsArea: Area = {
  id: 'runs',
  group: 'programs',
  title: 'Runs',
  about:
    'A run is one request to a model: the most it can cost is reserved, then what it used is ' +
    'charged. `queued` (in the background), `running`, then `succeeded`, `failed`, `cancelled` ' +
    'or `interrupted`. A failure before any output costs nothing.',
  operations,
  schemas,
}
