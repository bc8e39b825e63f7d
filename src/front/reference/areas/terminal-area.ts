import type { Area } from '../operation.ts'
import {
  anything,
  closed,
  flag,
  hash,
  id,
  integer,
  list,
  nusd,
  object,
  only,
  ref,
  type Schemas,
  text,
  time,
} from '../schema.ts'

const echo = 'counterfoil/echo-1'

const schemas: Schemas = {
  TerminalRequest: object(
    'A line of the language, or a question: one of them.',
    {
      'command?': text('`help` lists all there are.', 'ask Every run leaves a receipt.'),
      'input?': text('The question of an `ask`, at most 2 KiB.', 'Every run leaves a receipt.'),
      'model?': text('For an `ask` by `input`: a model with `terminal: true`.', echo),
      'stream?': flag('For an `ask`: whether the answer comes in pieces.', false),
    },
    { ...closed, examples: [{ command: 'models' }] },
  ),
  TerminalResult: object('What a command says.', {
    object: only('terminal.result'),
    command: text('Its name.', 'ask'),
    lines: list(text('', 'Every run leaves a receipt.'), 'For people.'),
    data: anything('For programs: what `/v1` answers to the same.', {}),
    'receipt?': object('Of an `ask`, whose run the house paid.', {
      id: id('rcpt', 'Id of the receipt.'),
      digest: hash('What was signed.'),
      url: text('The receipt file.', 'https://gw.example/v1/receipts/rcpt_…'),
      cost_nusd: nusd('What the house paid.', 4650),
      visibility: only('unlisted'),
      page: text('Its page.', 'https://gw.example/receipts/rcpt_…'),
    }),
    allowance: object('Asks that the network of the caller has left today.', {
      remaining: integer('How many.', 9, { minimum: 0 }),
      resets_at: time('When the next day begins.'),
    }),
  }),
}

export const terminalArea: Area = {
  id: 'terminal',
  group: 'programs',
  title: 'Terminal',
  about:
    'A small command language for whoever has no key: `help, status, models, price, ask, verify, ' +
    'receipt, proof, passport, anchors, recent, signer`. The house pays for `ask`, a few times a ' +
    'day.',
  operations: [
    {
      id: 'runTerminal',
      route: 'POST /v1/terminal/run',
      title: 'Run a command',
      about:
        'An unknown command is a 400 that names the nearest one. A used-up allowance is a 429 ' +
        'whose `metadata.resets_at` says when the next day begins.',
      access: 'none',
      body: { schema: ref('TerminalRequest') },
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
            'application/json': { schema: ref('TerminalResult') },
            'text/event-stream': {
              schema: text('Server-sent events.', ''),
              sample:
                'data: {"type":"run.output.delta","text":"Word"}\n\n' +
                'data: {"type":"run.completed","result":{"object":"terminal.result"}}\n\n',
            },
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
    },
  ],
  schemas,
}
