import { type Area, ok } from '../operation.ts'
import {
  anything,
  flag,
  integer,
  list,
  nusd,
  object,
  oneOf,
  only,
  orNull,
  pusd,
  ref,
  type Schemas,
  text,
  usuallyNull,
} from '../schema.ts'

const count = (about: string, example: number) => integer(about, example, { minimum: 0 })
const words = ['ok', 'disabled', 'unchecked', 'degraded', 'diverged']

const schemas: Schemas = {
  Model: object("OpenAI's object and ours.", {
    id: text('`owner/name`.', 'counterfoil/echo-1'),
    object: only('model'),
    created: integer('Always 0: when a model was made is not known here.', 0),
    owned_by: text('Whose it is.', 'counterfoil'),
    name: text('For people.', 'Echo 1'),
    kind: oneOf('What it does.', ['chat', 'embedding']),
    status: oneOf('Whether it runs.', ['live', 'disabled', 'deprecated']),
    context_tokens: count('What it reads at most.', 131_072),
    max_output_tokens: count('What it writes at most; 0 for an embedding.', 4096),
    prices: object('What a run costs.', {
      input_pusd: pusd('Read.', 150_000),
      output_pusd: pusd('Written.', 600_000),
      request_nusd: nusd('Of each run.', 0),
    }),
    overhead_tokens: object('Added to the bound of a hold.', {
      per_message: count('For each message.', 0),
      fixed: count('Once.', 0),
    }),
    features: list(text('', 'streaming'), 'What it can.'),
    verifiable: oneOf('Whether anybody can run it again and compare.', ['none', 're-executable']),
    terminal: flag('Whether the public terminal may use it.', true),
  }),
  Models: object('All models.', {
    object: only('list'),
    data: list(ref('Model'), 'All of them.'),
    has_more: flag('Always false.', false),
    first_id: orNull(text('The first model.', 'counterfoil/echo-1')),
    last_id: orNull(text('The last model.', 'counterfoil/embed-1')),
    price_list: object('The version of all prices; receipts name it as `id@version`.', {
      id: text('Its name.', 'default'),
      version: count('Its number.', 1),
      digest: text('SHA-256 of the prices, as hex.', '5c'.repeat(32)),
    }),
  }),
  Status: object('How the server is. A part that is off says `disabled`; nothing pretends.', {
    object: only('status'),
    status: oneOf('All in all.', ['ok', 'degraded']),
    version: text('Of the program.', '0.1.0'),
    commit: orNull(text('Of its source.', '9f2c4e6')),
    uptime_s: count('Seconds since its start.', 3600),
    chain: object('Chain 4663, as it was seen last.', {
      id: integer('Always 4663.', 4663),
      head: usuallyNull(count('The newest block.', 1_234_567)),
      lag_s: usuallyNull(count('Seconds since that was seen.', 1)),
      status: text('`ok`, `disabled`, `unchecked`, or why it does not answer.', 'ok'),
    }),
    log: object('The log of receipts.', {
      size: orNull(count('Leaves.', 12)),
      status: oneOf('Whether it has all that is known to be signed.', [
        'ok',
        'unchecked',
        'diverged',
      ]),
      anchored_size: orNull(count('Leaves on the chain.', 10)),
      oldest_unanchored_s: usuallyNull(count('How long the oldest of the rest waits.', 30)),
    }),
    ledger: oneOf('Whether all balances follow from their journal.', [
      'balanced',
      'checking',
      'unbalanced',
    ]),
    models: object('How many.', {
      live: count('That run.', 2),
      degraded: count('Whose upstreams all rest after failures.', 0),
    }),
    clock: object("This machine's clock, compared to the database's.", {
      status: oneOf('Above 2 s it is skewed; above 30 s, wrong: the server takes no runs.', [
        'ok',
        'skewed',
        'wrong',
      ]),
      offset_ms: usuallyNull(integer('How far it is ahead; null on SQLite.', 12)),
    }),
    database: object('Where data lives.', {
      engine: oneOf('Which.', ['sqlite', 'postgres']),
      schema: count('Version of its tables.', 8),
      status: oneOf('Whether it answers, and stores what is new.', ['ok', 'read_only', 'down']),
      'notices?': oneOf(
        'On PostgreSQL: how this node learns what other nodes did. `polling`, which is up to a ' +
          'second slower, when LISTEN does not get through.',
        ['listening', 'polling'],
      ),
    }),
    anchors: object('The way of the log to the chain.', {
      status: oneOf('How it goes.', words),
      'reason?': usuallyNull(text('Why not.', 'late')),
      'sender?': anything('Who pays for it: `{address, balance_wei, low}`.', {}),
      lag_s: usuallyNull(count('How long the oldest receipt waits.', 30)),
    }),
    deposits: object('Whether deposits are seen.', {
      status: oneOf('How it goes.', words),
      'reason?': usuallyNull(text('Why not.', 'unreachable')),
      'block?': usuallyNull(count('The last block that was read.', 1_234_567)),
    }),
    features: anything('What there is.', { chat: true, embeddings: true }),
  }),
  Alive: object('', { status: only('ok') }),
}

const etag = text('Send it back as `If-None-Match`.', '"5c5c"')
const unchanged = { status: 304, about: 'Unchanged since `If-None-Match`.', content: {} }

export const serviceArea: Area = {
  id: 'service',
  group: 'programs',
  title: 'Models and service',
  about:
    'What runs here, what it costs, and how the server is. `/metrics` (Prometheus) is not ' +
    'here: it has a listener of its own where the operator configures `metrics.listen`.',
  operations: [
    {
      id: 'listModels',
      route: 'GET /v1/models',
      title: 'List models',
      about: 'All models with their prices.',
      access: 'none',
      examples: [{ name: 'All models', status: 200 }],
      answers: [ok('The models.', ref('Models'))],
    },
    {
      id: 'showModel',
      route: 'GET /v1/models/:id',
      title: 'One model',
      about: '`counterfoil%2Fecho-1` and `counterfoil/echo-1` both work.',
      access: 'any',
      path: { id: text('Id of a model.', 'counterfoil/echo-1') },
      examples: [{ name: 'A model', path: { id: 'counterfoil/echo-1' }, status: 200 }],
      answers: [ok('The model.', ref('Model'))],
      refuses: ['model_not_found'],
    },
    {
      id: 'showStatus',
      route: 'GET /v1/status',
      title: 'How the server is',
      about: 'Database, ledger, log, chain, deposits.',
      access: 'none',
      examples: [{ name: 'The status', status: 200 }],
      answers: [ok('The status.', ref('Status'))],
    },
    {
      id: 'livez',
      route: 'GET /livez',
      title: 'Is it alive?',
      about: 'For supervisors: the process answers.',
      access: 'none',
      examples: [{ name: 'Alive', status: 200 }],
      answers: [ok('It does.', ref('Alive'))],
    },
    {
      id: 'readyz',
      route: 'GET /readyz',
      title: 'Is it ready?',
      about: 'For supervisors: it takes traffic.',
      access: 'none',
      examples: [{ name: 'Ready', status: 200 }],
      answers: [ok('It does.', ref('Alive'))],
      refuses: ['unavailable'],
    },
    {
      id: 'showDocument',
      route: 'GET /openapi.json',
      title: 'This reference for programs',
      about: 'OpenAPI 3.1, with an ETag. Names the `base_url` of this server.',
      access: 'none',
      examples: [{ name: 'The document', status: 200 }],
      answers: [
        ok('The document.', anything('An OpenAPI document.', { openapi: '3.1.0' }), {
          ETag: etag,
        }),
        unchanged,
      ],
    },
    {
      id: 'showLlms',
      route: 'GET /llms.txt',
      title: 'The start of it for agents',
      about: 'How to check the budget, run a model and verify its receipt.',
      access: 'none',
      examples: [{ name: 'The text', status: 200 }],
      answers: [
        {
          status: 200,
          about: 'The text.',
          headers: { ETag: etag },
          content: {
            'text/plain': { schema: text('Markdown.', ''), sample: '# Counterfoil at …\n' },
          },
        },
        unchanged,
      ],
    },
  ],
  schemas,
}
