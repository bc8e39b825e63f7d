import { assignBody, grantBody, reasonBody } from '../../admin/shapes.ts'
import {
  address,
  anything,
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
  ref,
  type Schema,
  type Schemas,
  text,
  time,
  usuallyNull,
} from '../schema.ts'
import { shapeOf } from '../shape.ts'

const count = (about: string, example: number) => integer(about, example, { minimum: 0 })
const keys = text('Keys in use; `more than …` above 1,000.', '2')
const once = text('What a grant sends along; good for a day.', '1785585600000.0123456789abcdef')
const names = (about: string, example: string): Schema => list(text('', example), about)

const accountMembers: Record<string, Schema> = {
  id: text('Its address in lower case.', '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'),
  object: only('account'),
  account: address('The account.'),
  status: oneOf('Whether it may act.', ['active', 'suspended']),
  plan: text('Its plan.', 'free'),
  balance_nusd: nusd('What there is.', 10_000_000_000),
  held_nusd: nusd('Reserved for runs in flight.', 0),
  created_at: time('When it was opened.'),
}

export const operatorSchemas: Schemas = {
  Finding: object('One part of the service.', {
    part: text('Which.', 'Database'),
    tone: oneOf('How it is.', ['ok', 'warn', 'bad', 'wait']),
    state: text('In words.', 'Answers'),
    advice: text('What its operator does about that.', 'Nothing to do.'),
  }),
  Findings: object('All parts, in the order in which they would hurt.', {
    object: only('list'),
    data: list(ref('Finding'), 'Each part.'),
  }),
  Account: object('An account as its operator sees it.', accountMembers),
  AccountPage: page('Accounts.', 'Account'),
  AccountDetail: {
    description: 'An account, or an address without an account.',
    anyOf: [
      object('', { ...accountMembers, keys, once }),
      object('', { account: address('The address.'), status: { type: 'null' }, keys, once }),
    ],
  },
  ReasonWish: shapeOf(reasonBody),
  GrantWish: shapeOf(grantBody),
  AssignWish: shapeOf(assignBody),
  Upstream: object('An upstream: counts since the server started.', {
    id: text('Its name.', 'builtin'),
    asked: count('Requests.', 12),
    failed: count('Of these, failures.', 0),
    reasons: map(count('How many.', 1), 'Failures by their reason.', { timeout: 1 }),
    places: orNull(
      object('null where they are not limited.', {
        taken: count('Requests in flight.', 1),
        waiting: count('Requests that wait.', 0),
        most: count('Places there are.', 64),
      }),
    ),
    'breaker?': oneOf('Whether it is asked.', ['closed', 'open', 'half_open']),
  }),
  OperatedModels: object('Models, their prices and their upstreams.', {
    object: only('list'),
    data: list(ref('Model'), 'All models.'),
    price_list: object('The version of all prices.', {
      id: text('Its name.', 'default'),
      version: count('Its number.', 1),
      digest: text('SHA-256 of the prices, as hex.', '5c'.repeat(32)),
      leaf: usuallyNull(count('Its leaf of the log.', 0)),
    }),
    upstreams: list(ref('Upstream'), 'All upstreams.'),
  }),
  Reloaded: {
    description: 'What came of reading the configuration again.',
    anyOf: [
      object('It was taken on.', {
        changed: names('What changed.', 'limits.rpm'),
        restart: names('What changed too, but only a restart takes on.', 'listen'),
      }),
      object('It was refused: the old one holds.', {
        problems: names('Why.', 'listen: must be host:port'),
      }),
    ],
  },
  OperatedAnchors: page('Heads of the log on their way to the chain.', 'Anchor', {
    log: object('The log.', {
      origin: text('Its origin.', 'https://gw.example'),
      size: count('Leaves.', 12),
      anchored_size: count('Leaves on the chain.', 10),
      oldest_unanchored_s: usuallyNull(count('Seconds that the oldest of the rest waits.', 30)),
    }),
    anchors: object('How that goes.', {
      status: oneOf('In a word.', ['ok', 'disabled', 'degraded', 'diverged']),
      'reason?': usuallyNull(text('The reason, if it is not ok.', 'late')),
      'sender?': anything('Who pays for it: `{address, balance_wei, low}`.', {}),
      lag_s: usuallyNull(count('Seconds that the oldest receipt waits.', 30)),
    }),
  }),
  AnchorAsked: object('', { asked: flag('It is made with the next look at the log.', true) }),
  LedgerAudit: object('The last audit of the ledger since the server started.', {
    object: only('ledger_audit'),
    at: orNull(time('When; null before the first one.')),
    balanced: orNull(flag('Whether everything adds up.', true)),
    faults: list(text('', 'balance of account 0x… is 1, but should be 2'), 'What does not.', {
      examples: [[]],
    }),
    sides: map(
      integer('Nano-USD.', 10_000_000_000),
      'What each side of the ledger has. Nano-USD.',
      {
        accounts: 10_000_000_000,
      },
    ),
  }),
  AuditEntry: object('An action, as the audit log keeps it.', {
    id: id('req', 'Id of the request.'),
    object: only('audit_entry'),
    at: time('When.'),
    actor: text('Who: a wallet, a key, or `operator`.', 'operator'),
    action: text('What.', 'grant'),
    account: text('Whose account.', '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'),
    subject: text('To what.', '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'),
    detail: anything('More of it.', { reason: 'goodwill' }),
  }),
  AuditPage: page('The audit log.', 'AuditEntry'),
}
