/** Reference entries of the terminal. */
import { terminalBody, terminalResultShape } from '../../terminal/shapes.ts'
import { area, json, media, operation } from '../entry.ts'

export const terminalArea = area('terminal', 'programs', 'Terminal', {
  about:
    'A small command language that takes no key: `help, status, models, price, ask, verify, ' +
    'receipt, proof, passport, anchors, recent, signer`. The house pays for `ask`, a few times a ' +
    'day.',
  operations: [
    operation('runTerminal', 'POST /v1/terminal/run', 'Run a command', {
      about:
        'An unknown command is a 400 that names the nearest one. A used-up allowance is a 429 ' +
        'whose `metadata.resets_at` says when the next day begins.',
      access: 'none',
      body: { schema: terminalBody },
      examples: [
        { name: 'A look-up', body: { command: 'models' }, status: 200 },
        { name: 'A question', body: { input: 'Every run leaves a receipt.' }, status: 200 },
        { name: 'Streamed', body: { input: 'Word by word.', stream: true }, status: 200 },
      ],
      answers: [
        {
          status: 200,
          about:
            'What it says; with `stream: true` unnamed server-sent events with a `type`: ' +
            '`run.started`, `run.output.delta`, `run.completed`.',
          content: {
            ...json(terminalResultShape),
            ...media(
              'text/event-stream',
              'Server-sent events.',
              'data: {"type":"run.output.delta","text":"Word"}\n\n' +
                'data: {"type":"run.completed","result":{"object":"terminal.result"}}\n\n',
            ),
          },
        },
      ],
      refuses: [
        'receipt_not_found',
        'model_not_found',
        'model_not_allowed',
        'not_found',
        'gone',
        'rate_limited',
        'concurrency_limited',
        'upstream_error',
        'unavailable',
        'log_diverged',
        'upstream_timeout',
      ],
    }),
  ],
})
