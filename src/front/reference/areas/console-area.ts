/** Reference entries of the console. */
import { runWithReceiptShape } from '../../../runs/shapes.ts'
import {
  askBody,
  askForm,
  capBody,
  consoleResultShape,
  consoleShape,
} from '../../console/shapes.ts'
import { commandBody } from '../../terminal/shapes.ts'
import { done, shown } from '../browser-answers.ts'
import { area, json, media, ok, operation } from '../entry.ts'
import { spendRefusals } from './openai-area.ts'

const echo = 'counterfoil/echo-1'

const answerSample =
  'data: {"type":"run.started","run_id":"run_…"}\n\n' +
  'data: {"type":"run.output.delta","text":"Every"}\n\n' +
  'data: {"type":"run.completed","run":{"id":"run_…"}}\n\n'

const operations = [
  operation('showConsole', 'GET /api/portal/console', 'The console', {
    about: 'Its models, the key that pays, and the cap.',
    access: 'session',
    answers: [shown('The console.', consoleShape)],
  }),
  operation('askConsole', 'POST /api/portal/console/run', 'Ask a model', {
    about:
      'A run paid by the key of the console: events up to `run.completed` or `error`, ' +
      'or one body for `Accept: application/json`. Hanging up stops it.',
    access: 'session',
    body: { schema: askBody, form: askForm },
    isIdempotent: true,
    examples: [
      {
        name: 'As a whole',
        body: { model: echo, input: 'Hello.', max_output_tokens: 64 },
        headers: { Accept: 'application/json' },
        status: 200,
      },
      {
        name: 'From a form',
        form: { model: echo, input: 'Hello.' },
        headers: { Accept: 'text/html' },
        status: 200,
      },
    ],
    answers: [
      {
        status: 200,
        about: 'The run, events or a page.',
        content: {
          ...json(runWithReceiptShape),
          ...media('text/event-stream', 'Events.', answerSample),
          ...media('text/html', 'The page with the answer.', ''),
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
  }),
  operation('runConsoleCommand', 'POST /api/portal/console/command', 'Run a command', {
    about: 'The commands of the terminal, `runs` and `run`. Free; they see private receipts.',
    access: 'session',
    body: { schema: commandBody, form: commandBody },
    examples: [
      { name: 'Newest runs', body: { command: 'runs' }, status: 200 },
      { name: 'From a form', form: { command: 'models' }, status: 200 },
    ],
    answers: [ok('What it says.', consoleResultShape)],
    refuses: ['receipt_not_found', 'model_not_found', 'not_found', 'gone', 'log_diverged'],
  }),
  operation('capConsole', 'POST /api/portal/console/cap', 'Set the cap of the console', {
    about: 'Below what today spent it is a 409.',
    access: 'session',
    body: { schema: capBody, form: capBody },
    examples: [
      { name: 'Two dollars a day', body: { cap: '2.00' }, status: 200 },
      { name: 'From a form', form: { cap: '2.00' }, status: 200 },
    ],
    answers: done('The console now.', consoleShape),
    refuses: ['conflict'],
  }),
  operation('renewConsoleKey', 'POST /api/portal/console/key', 'Make another key', {
    about: 'After the last was revoked or expired; else nothing changes.',
    access: 'session',
    answers: done('The console now.', consoleShape),
    refuses: ['conflict'],
  }),
]

export const consoleArea = area('console', 'dashboard', 'Console', {
  about: 'Talks to a model, with a capped key of its own.',
  operations,
})
