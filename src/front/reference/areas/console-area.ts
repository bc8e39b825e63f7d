import { askBody, askForm, capBody } from '../../console/shapes.ts'
import { commandBody } from '../../terminal/api/console.ts'
import { done, shown } from '../browser-answers.ts'
import { type Area, type Operation, ok } from '../operation.ts'
import {
  anything,
  list,
  nusd,
  object,
  oneOf,
  only,
  ref,
  type Schemas,
  text,
  time,
  usuallyNull,
} from '../schema.ts'
import { shapeOf } from '../shape.ts'
import { spendRefusals } from './openai-area.ts'

const echo = 'counterfoil/echo-1'

const schemas: Schemas = {
  Console: object('What the console can run, and what pays for it.', {
    object: only('console'),
    models: list(ref('Model'), 'The chat models that run.'),
    key: usuallyNull(ref('Key', 'The key that pays; null before its first use.')),
    cap: object('What it may spend.', {
      limit_nusd: nusd('The most in one window.', 1_000_000_000),
      window: oneOf('Starts at 00:00 UTC.', ['day', 'lifetime', 'week', 'month']),
      spent_nusd: nusd('Spent in the present window.', 0),
      held_nusd: nusd('Reserved for runs in flight.', 0),
      remaining_nusd: nusd('What is left.', 1_000_000_000),
      resets_at: usuallyNull(time('When the next window starts.')),
    }),
  }),
  ConsoleAsk: shapeOf(askBody),
  ConsoleForm: shapeOf(askForm),
  ConsoleCap: shapeOf(capBody),
  ConsoleCommand: shapeOf(commandBody),
  ConsoleResult: object('What a command says.', {
    object: only('terminal.result'),
    command: text('Its name.', 'runs'),
    lines: list(text('', 'No runs yet.'), 'For people.'),
    data: anything('For programs: what `/v1` answers to the same.', {}),
  }),
}

const answerSample =
  'data: {"type":"run.started","run_id":"run_…","receipt_id":"rcpt_…","hold_nusd":48000}\n\n' +
  'data: {"type":"run.output.delta","text":"Every"}\n\n' +
  'data: {"type":"run.completed","run":{"id":"run_…"},"receipt":{"id":"rcpt_…"}}\n\n'

const operations: readonly Operation[] = [
  {
    id: 'showConsole',
    route: 'GET /api/portal/console',
    title: 'The console',
    about: 'The models to talk to, the key that pays, and its cap.',
    access: 'session',
    examples: [{ name: 'The console', status: 200 }],
    answers: [shown('The console.', ref('Console'))],
  },
  {
    id: 'askConsole',
    route: 'POST /api/portal/console/run',
    title: 'Ask a model',
    about:
      'A run, paid by the key of the console. Answers as events (`run.started`, ' +
      '`run.output.delta`, `run.completed`, or `error` with what was charged), or the run as a ' +
      'whole for `Accept: application/json`. A client that hangs up stops its run.',
    access: 'session',
    body: { schema: ref('ConsoleAsk'), form: ref('ConsoleForm') },
    isIdempotent: true,
    examples: [
      {
        name: 'As a whole',
        body: { model: echo, input: 'Every run leaves a receipt.', max_output_tokens: 64 },
        headers: { Accept: 'application/json' },
        status: 200,
      },
      {
        name: 'As it comes',
        body: { model: echo, input: 'Word by word.' },
        headers: { Accept: 'text/event-stream' },
        status: 200,
      },
      {
        name: 'From a form',
        form: { model: echo, input: 'Every run leaves a receipt.' },
        headers: { Accept: 'text/html' },
        status: 200,
      },
    ],
    answers: [
      {
        status: 200,
        about: 'The run with its output and receipt; events; or the page with the answer.',
        content: {
          'application/json': { schema: ref('RunWithReceipt') },
          'text/event-stream': { schema: text('Server-sent events.', ''), sample: answerSample },
          'text/html': { schema: text('The page with the answer.', ''), sample: '' },
        },
      },
    ],
    refuses: [
      ...spendRefusals,
      'key_revoked',
      'key_paused',
      'scope_denied',
      'ip_not_allowed',
      'rate_limited',
    ],
  },
  {
    id: 'runConsoleCommand',
    route: 'POST /api/portal/console/command',
    title: 'Run a command',
    about:
      'The look-ups of the terminal, and `runs` and `run` of the account. They cost nothing, and ' +
      'see its private receipts.',
    access: 'session',
    body: { schema: ref('ConsoleCommand'), form: ref('ConsoleCommand') },
    examples: [
      { name: 'The newest runs', body: { command: 'runs' }, status: 200 },
      { name: 'From a form', form: { command: 'models' }, status: 200 },
    ],
    answers: [ok('What it says.', ref('ConsoleResult'))],
    refuses: ['receipt_not_found', 'model_not_found', 'not_found', 'gone', 'log_diverged'],
  },
  {
    id: 'capConsole',
    route: 'POST /api/portal/console/cap',
    title: 'Set the cap of the console',
    about: 'Below what today has spent and holds it is a 409.',
    access: 'session',
    body: { schema: ref('ConsoleCap'), form: ref('ConsoleCap') },
    examples: [
      { name: 'Two dollars a day', body: { cap: '2.00' }, status: 200 },
      { name: 'From a form', form: { cap: '2.00' }, status: 200 },
    ],
    answers: done('The console as it is now.', ref('Console')),
    refuses: ['conflict'],
  },
  {
    id: 'renewConsoleKey',
    route: 'POST /api/portal/console/key',
    title: 'Make another key for the console',
    about: 'After the last one was revoked or expired. One that works is left as it is.',
    access: 'session',
    examples: [{ name: 'Another key', status: 200 }],
    answers: done('The console as it is now.', ref('Console')),
    refuses: ['conflict'],
  },
]

export const consoleArea: Area = {
  id: 'console',
  group: 'dashboard',
  title: 'Console',
  about: 'Talks to a model from the browser, with a capped key of its own.',
  operations,
  schemas,
}
