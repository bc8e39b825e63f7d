/** Reference entries of the console. */
import { spendRefusals } from '../../runs/protocols-reference.ts'
import { runWithReceiptShape } from '../../runs/shapes.ts'
import * as r from '../../web/reference/entry.ts'
import { askBody, askForm, capBody, consoleShape } from './shapes.ts'

const echo = 'counterfoil/echo-1'

const answerSample =
  'data: {"type":"run.started","run_id":"run_…"}\n\n' +
  'data: {"type":"run.output.delta","text":"Every"}\n\n' +
  'data: {"type":"run.completed","run":{"id":"run_…"}}\n\n'

const { get, post } = r.entriesUnder('/api/portal/console')

/** The commands are those of the terminal, which has their entry. */
export const consoleArea = (command: r.Entry) =>
  r.area('console', 'dashboard', 'Console', {
    about: 'Talks to a model, with a capped key of its own.',
    operations: [
      get('showConsole', '', 'The console', {
        about: 'Its models, the key that pays, and the cap.',
        answers: r.shown('The console.', consoleShape),
      }),
      post('askConsole', '/run', 'Ask a model', {
        about:
          'A run paid by the key of the console: events up to `run.completed` or `error`, ' +
          'or one body for `Accept: application/json`. Hanging up stops it.',
        body: { schema: askBody, form: askForm },
        isIdempotent: true,
        examples: [
          {
            name: 'As a whole',
            body: { model: echo, input: 'Hello.', max_output_tokens: 64 },
            headers: { Accept: 'application/json' },
          },
          {
            name: 'From a form',
            form: { model: echo, input: 'Hello.' },
            headers: { Accept: 'text/html' },
          },
        ],
        answers: {
          status: 200,
          about: 'The run, events or a page.',
          content: {
            ...r.json(runWithReceiptShape),
            ...r.media('text/event-stream', 'Events.', answerSample),
            ...r.media('text/html', 'The page with the answer.', ''),
          },
        },
        refuses: [
          ...spendRefusals,
          ...(['key_revoked', 'key_paused', 'scope_denied'] as const),
          ...(['ip_not_allowed', 'rate_limited'] as const),
        ],
      }),
      command,
      post('capConsole', '/cap', 'Set the cap of the console', {
        about: 'Below what today spent it is a 409.',
        body: capBody,
        examples: r.bothWays('Two dollars a day', { cap: '2.00' }),
        answers: r.done('The console now.', consoleShape),
        refuses: ['conflict'],
      }),
      post('renewConsoleKey', '/key', 'Make another key', {
        about: 'After the last was revoked or expired; else nothing changes.',
        answers: r.done('The console now.', consoleShape),
        refuses: ['conflict'],
      }),
    ],
  })
