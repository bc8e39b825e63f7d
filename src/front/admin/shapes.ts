/** The bodies and answers of the operator. */
import { modelShape } from '../../models/shapes.ts'
import { anchorShape } from '../../proof/anchors/shapes.ts'
import * as t from '../../web/http/shape.ts'
import { upstreamShape } from './api/upstream-shape.ts'

export const keysInUse = t.text('Keys in use; `more than …` above 1,000.', '2')

const once = t.text('What a grant sends along; good for a day.', '1785585600000.0123456789abcdef')

const names = (about: string, example: string) => t.list(t.text('', example), about)

export const reason = t.text('Why, for the audit.', 'invoice 17', {
  minLength: 1,
  maxLength: 500,
  pattern: '\\S',
})

export const accountMembers = {
  id: t.text('Its address in lower case.', '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'),
  object: t.only('account'),
  account: t.address('The account.'),
  status: t.oneOf('Whether it may act.', ['active', 'suspended']),
  plan: t.text('Its plan.', 'free'),
  balance_nusd: t.nusd('Balance, holds included.', 10_000_000_000),
  held_nusd: t.nusd('Reserved for runs in flight.', 0),
  created_at: t.time('When it was opened.'),
}

export const findingShape = t.answer('Finding', 'One part of the service.', {
  part: t.text('Which.', 'Database'),
  tone: t.oneOf('How it is.', ['ok', 'warn', 'bad', 'wait']),
  state: t.text('In words.', 'Answers'),
  advice: t.text('What its operator does about that.', 'Nothing to do.'),
})

export const findingsShape = t.answer(
  'Findings',
  'All parts, in the order in which they would hurt.',
  {
    object: t.only('list'),
    data: t.list(findingShape, 'Each part.'),
  },
)

export const accountShape = t.answer(
  'Account',
  'An account as its operator sees it.',
  accountMembers,
)

export const accountPageShape = t.page('AccountPage', 'Accounts.', accountShape)

export const accountDetailShape = t.choice(
  'AccountDetail',
  'An account, or an address without an account.',
  [
    t.object('', { ...accountMembers, keys: keysInUse, once }),
    t.object('', { account: t.address('The address.'), status: t.nothing, keys: keysInUse, once }),
  ],
)

export const unpricedShape = t.object('Units that this process counted since it started.', {
  model: t.text('The model.', 'acme/small'),
  meter: t.text('Their class.', 'cache_read'),
  units: t.count('How many.', 40),
  setting: t.text('What gives the class a rate.', 'cache_read_pusd'),
})

const learnedShape = t.object('What this process learned of a model server.', {
  upstream: t.text('The upstream.', 'local'),
  model: t.text('The model by its name there.', 'gpt-5.5'),
  facts: t.text('What it takes otherwise.', 'without max_tokens'),
  learned_at: t.time('When it refused.'),
})

const contradictionShape = t.object('Runs that this process counted since it started.', {
  model: t.text('The model.', 'acme/small'),
  side: t.oneOf('The side whose details cannot be true.', ['input', 'output']),
  runs: t.count('How many.', 3),
})

export const operatedModelsShape = t.answer(
  'OperatedModels',
  'Models, their prices and their upstreams.',
  {
    object: t.only('list'),
    data: t.list(modelShape, 'All models.'),
    price_list: t.object('The version of all prices.', {
      id: t.text('Its name.', 'default'),
      version: t.count('Its number.', 1),
      digest: t.text('SHA-256 of the prices, as hex.', '5c'.repeat(32)),
      leaf: t.usuallyNull(t.count('Its leaf of the log.', 0)),
    }),
    upstreams: t.list(upstreamShape, 'All upstreams.'),
    below_cost: names(
      'What is sold below cost.',
      'acme/large sells output at $1.00, far:large costs $2.00 per 1M tokens',
    ),
    unpriced: t.list(unpricedShape, 'What models used without a rate for it.'),
    learned: t.list(learnedShape, 'What model servers turned out not to take. Kept for a day.'),
    contradictions: t.list(contradictionShape, 'Reports of usage that contradict themselves.'),
  },
)

export const reloadedShape = t.choice('Reloaded', 'What came of reading the configuration again.', [
  t.object('It was taken on.', {
    changed: names('What changed.', 'limits.rpm'),
    restart: names('What changed too, but only a restart takes on.', 'listen'),
  }),
  t.object('It was refused: the old one holds.', {
    problems: names('Why.', 'listen: must be host:port'),
  }),
])

export const operatedAnchorsShape = t.page(
  'OperatedAnchors',
  'Heads of the log on their way to the chain.',
  anchorShape,
  {
    log: t.object('The log.', {
      origin: t.text('Its origin.', 'https://gw.example'),
      size: t.count('Leaves.', 12),
      anchored_size: t.count('Leaves on the chain.', 10),
      oldest_unanchored_s: t.usuallyNull(t.count('Seconds that the oldest of the rest waits.', 30)),
    }),
    anchors: t.object('How that goes.', {
      status: t.oneOf('In a word.', ['ok', 'disabled', 'degraded', 'diverged']),
      'reason?': t.usuallyNull(t.text('The reason, if it is not ok.', 'late')),
      'sender?': t.anything('Who pays for it: `{address, balance_wei, low}`.', {}),
      lag_s: t.usuallyNull(t.count('Seconds that the oldest receipt waits.', 30)),
    }),
  },
)

export const anchorAskedShape = t.answer('AnchorAsked', '', {
  asked: t.flag('It is made with the next look at the log.', true),
})

export const ledgerAuditShape = t.answer(
  'LedgerAudit',
  'The last audit of the ledger since the server started.',
  {
    object: t.only('ledger_audit'),
    at: t.orNull(t.time('When; null before the first one.')),
    balanced: t.orNull(t.flag('Whether everything adds up.', true)),
    faults: t.list(t.text('', 'balance of account 0x… is 1, but should be 2'), 'What does not.', {
      examples: [[]],
    }),
    sides: t.map(
      t.integer('Nano-USD.', 10_000_000_000),
      'What each side of the ledger has. Nano-USD.',
      {
        accounts: 10_000_000_000,
      },
    ),
  },
)

export const auditEntryShape = t.answer('AuditEntry', 'An action, as the audit log keeps it.', {
  id: t.id('req', 'Id of the request.'),
  object: t.only('audit_entry'),
  at: t.time('When.'),
  actor: t.text('Who: a wallet, a key, or `operator`.', 'operator'),
  action: t.text('What.', 'grant'),
  account: t.text('Whose account.', '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'),
  subject: t.text('To what.', '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'),
  detail: t.anything('More of it.', { reason: 'goodwill' }),
})

export const auditPageShape = t.page('AuditPage', 'The audit log.', auditEntryShape)

const marginMembers = {
  runs: t.count('Runs with a known cost.', 12),
  revenue_nusd: t.nusd('What they were charged.', 1_080_000),
  revenue_usd: t.text('The same in USD.', '0.00108'),
  cost_nusd: t.nusd('What they cost the operator.', 1_000_000),
  cost_usd: t.text('The same in USD.', '0.001'),
  margin_nusd: t.integer('Revenue less cost, in nano-USD.', 80_000),
  margin_usd: t.text('The same in USD.', '0.00008'),
  margin_percent: t.usuallyNull(t.text('Of the revenue; null without any.', '7.4')),
}

export const marginsShape = t.answer(
  'Margins',
  'Revenue, cost and margin of runs whose route step has a cost.',
  {
    object: t.only('margins'),
    from: t.time('First day.'),
    to: t.time('End of the last day.'),
    by: t.oneOf('What the rows are of.', ['model', 'account', 'day']),
    data: t.list(
      t.object('A row: the lowest margin first, days in their order.', {
        'model?': t.text('By model: its id.', 'acme/large'),
        'account?': t.address('By account: its address.'),
        'day?': t.text('By day (UTC): its date.', '2026-11-21'),
        ...marginMembers,
      }),
      'All rows.',
    ),
    totals: t.object('Of all rows.', marginMembers),
    uncounted: t.count('Leaves of the log that are not counted yet.', 0),
  },
)

/** The body of suspending and resuming an account. */
export const reasonBody = t.body('ReasonWish', 'Why it is done.', { reason })

/** The body of `POST /api/portal/admin/accounts/:id/grant`. */
export const grantBody = t.body('GrantWish', 'Credit to give to an account.', {
  amount: t.text('Decimal USD.', '5.00', { maxLength: 40 }),
  reason,
  once: t.text(
    'The `once` of the account, at most a day old: however often it is sent, it grants once.',
    '1785585600000.0123456789abcdef',
    { maxLength: 40 },
  ),
})

/** The body of `POST /api/portal/admin/deposits/:id/assign`. */
export const assignBody = t.body('AssignWish', 'Whose deposit it is.', {
  account: t.text('Address of the account that is to have it.', t.sampleWallet, {
    maxLength: 60,
  }),
  reason,
})

const typed = (about: string, example: string, maxLength = 200) =>
  t.text(about, example, { maxLength })

/** The body of `POST /api/portal/admin/providers`. An empty text is a field that was left out. */
export const providerBody = t.body('ProviderWish', 'A provider, and how its models are sold.', {
  provider: typed('Its id among the presets.', 'groq'),
  ...t.optional({
    id: typed('Id of the upstream, for a second one of the same provider.', 'groq-eu'),
    key: typed('Its key. It is never shown again.', 'gsk_…', 4096),
    models: typed('Models to sell, as globs with commas; all without it.', 'llama-*', 4096),
    markup: typed('Percent on top of the cost.', '10'),
    input: typed('Price of input where none is published: dollars a million tokens.', '0.15'),
    output: typed('Price of output where none is published.', '0.60'),
    context: typed('Context where none is published, in tokens.', '131072'),
    at: typed('Where its API begins, in place of the preset.', 'http://127.0.0.1:8000/v1', 2048),
    account: typed('A part of the address of some providers.', '0123abcd'),
    host: typed('A part of the address of some providers.', 'gateway.example'),
    project: typed('A part of the address of some providers.', 'my-project'),
    region: typed('A part of the address of some providers.', 'eu-west-1'),
    resource: typed('A part of the address of some providers.', 'my-resource'),
  }),
})

const pricesShape = (about: string) =>
  t.object(about, {
    input: t.text('A million tokens of input.', '$0.15 / M'),
    output: t.text('A million tokens of output.', '$0.60 / M'),
  })

export const providerProposalShape = t.answer('ProviderProposal', 'A change to confirm.', {
  object: t.only('provider_proposal'),
  upstream: t.text('Id of the upstream.', 'groq'),
  models: t.list(
    t.object('A model that is to be sold.', {
      id: t.text('Its id here.', 'groq/llama-3.3-70b-versatile'),
      kind: t.oneOf('What it does.', ['chat', 'embedding']),
      cost: pricesShape('Prices of the provider.'),
      sale: pricesShape('Prices here.'),
    }),
    'Models that are to be sold.',
  ),
  notes: names('What to know of it.', 'No free page of Replicate proves a key.'),
  path: t.text('The file.', 'counterfoil.toml'),
  addition: t.text('What stands behind its end then.', '[[upstreams]]\nid = "groq"\n'),
  writable: t.flag('Whether this server can write the file.', true),
  others: t.usuallyNull(t.text('The command for other nodes.', 'counterfoil provider add groq')),
  draft: t.text('Confirms it within 15 minutes, with the key sealed in it.', 'bm90aGluZw'),
})

/** The body of `POST /api/portal/admin/providers/confirm`. */
export const confirmProviderBody = t.body('ProviderConfirmation', 'The change to make.', {
  draft: t.text('The `draft` of the proposal.', 'bm90aGluZw', { maxLength: 500_000 }),
})

export const providerAddedShape = t.answer('ProviderAdded', 'A provider in the configuration.', {
  object: t.only('provider'),
  upstream: t.text('Id of the upstream.', 'groq'),
  models: names('Models that are sold.', 'groq/llama-3.3-70b-versatile'),
  reload: reloadedShape,
})
