/** Reference entries of the terminal, and of its commands in the console. */
import * as r from '../../web/reference/entry.ts'
import { consoleResultShape } from '../console/shapes.ts'
import { commandBody, terminalBody, terminalResultShape } from './shapes.ts'

export const terminalArea = r.area('terminal', 'programs', 'Terminal', {
  about:
    'A small command language that takes no key: `help, status, models, price, ask, verify, ' +
    'receipt, proof, passport, anchors, recent, signer`. The house pays for `ask`, a few times a ' +
    'day.',
  operations: [
    r.entriesUnder('/v1/terminal').post('runTerminal', '/run', 'Run a command', {
      about:
        'A line that is not a command is asked as a question. A misspelt command is a 400 that ' +
        'names the nearest one. A used-up allowance is a 429 ' +
        'whose `metadata.resets_at` says when the next day begins.',
      body: terminalBody,
      examples: [
        { name: 'A look-up', body: { command: 'models' } },
        { name: 'A question', body: { input: 'Every run leaves a receipt.' } },
        { name: 'Streamed', body: { input: 'Word by word.', stream: true } },
      ],
      answers: {
        status: 200,
        about:
          'What it says; with `stream: true` unnamed server-sent events with a `type`: ' +
          '`run.started`, `run.output.delta`, `run.completed`.',
        content: {
          ...r.json(terminalResultShape),
          ...r.media(
            'text/event-stream',
            'Server-sent events.',
            'data: {"type":"run.output.delta","text":"Word"}\n\n' +
              'data: {"type":"run.completed","result":{"object":"terminal.result"}}\n\n',
          ),
        },
      },
      refuses: [
        ...(['receipt_not_found', 'model_not_found', 'model_not_allowed', 'not_found'] as const),
        ...(['gone', 'rate_limited', 'concurrency_limited', 'upstream_error'] as const),
        ...(['unavailable', 'log_diverged', 'upstream_timeout'] as const),
      ],
    }),
  ],
})

export const consoleCommandEntry = r
  .entriesUnder('/api/portal/console')
  .post('runConsoleCommand', '/command', 'Run a command', {
    about: 'The commands of the terminal, `runs` and `run`. Free; they see private receipts.',
    body: commandBody,
    examples: [
      { name: 'Newest runs', body: { command: 'runs' } },
      { name: 'From a form', form: { command: 'models' } },
    ],
    answers: r.ok('What it says.', consoleResultShape),
    refuses: ['receipt_not_found', 'model_not_found', 'not_found', 'gone', 'log_diverged'],
  })
