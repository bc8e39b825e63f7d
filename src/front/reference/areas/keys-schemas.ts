import {
  address,
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
  ref,
  type Schemas,
  text,
  time,
  usuallyNull,
} from '../schema.ts'

const scopeNames = [
  'runs:write',
  'runs:read',
  'usage:read',
  'receipts:read',
  'receipts:share',
  'keys:mint',
  'keys:read',
]
const statuses = ['usable', 'paused', 'expired', 'revoked']
const windows = ['lifetime', 'day', 'week', 'month']

const rpm = integer('Requests a minute, to all routes.', 600, { minimum: 1 })
const concurrency = integer('Runs in flight.', 16, { minimum: 1 })
const mostPerRun = nusd('The most one run may cost.', 50_000_000)

const limits = object('Of the key and the keys below it together. null is no limit of its own.', {
  rpm: usuallyNull(rpm),
  concurrency: usuallyNull(concurrency),
  max_cost_per_run_nusd: usuallyNull(mostPerRun),
})

const cap = object('What it may spend, and has spent, with the keys below it.', {
  limit_nusd: nusd('The most in one window.', 5_000_000_000),
  window: oneOf('Starts at 00:00 UTC, on Monday, on the 1st.', windows),
  spent_nusd: nusd('Spent in the present window.', 4650),
  held_nusd: nusd('Reserved for runs in flight.', 0),
  remaining_nusd: nusd('What is left.', 4_999_995_350),
  resets_at: usuallyNull(time('When the next window starts; null for a lifetime.')),
})

const keyMembers = {
  id: id('key', 'Id of the key.'),
  object: only('key'),
  name: text('1 to 64 characters.', 'research agent'),
  fingerprint: text('First 12 hex digits of the SHA-256 of its secret.', '9f2c4e6a8b0d'),
  parent_id: usuallyNull(id('key', 'The key above it.')),
  depth: integer('0 for a key without a parent.', 0, { minimum: 0, maximum: 4 }),
  status: oneOf('Computed over the key and all above it.', statuses),
  created_at: time('When it was made.'),
  expires_at: time('From then on it is refused.'),
  revoked_at: usuallyNull(time('When it was revoked.')),
  revoked_by: usuallyNull(text('Who revoked it: a key id, or the account.', 'operator')),
  last_used_at: usuallyNull(time('Exact to a minute.')),
  cap,
  limits,
  scopes: list(oneOf('A right.', scopeNames), 'What it may do.'),
  models: list(text('A glob.', 'counterfoil/*'), 'Models it may use. Empty: all.'),
  ip_cidrs: list(text('An address or network.', '203.0.113.0/24'), 'Where it works. Empty: all.'),
  tags: map(text('', 'research'), 'At most 8, noted with its runs.', { team: 'research' }),
  passport: usuallyNull(text('Handle of the passport it is bound to.', 'scout')),
  children_count: integer('Keys right below it.', 0, { minimum: 0 }),
  rotation: usuallyNull(
    object('While an old secret still works.', {
      overlap_until: time('When the old secret stops.'),
    }),
  ),
}

const chainItem = object('A key of the chain, the caller first.', {
  key_id: id('key', 'The key.'),
  limited_by: oneOf('As a refusal would say it.', ['key', 'ancestor']),
  limit_nusd: nusd('Its cap.', 5_000_000_000),
  remaining_nusd: nusd('What is left of it.', 4_999_995_350),
  resets_at: usuallyNull(time('When its window ends.')),
  expires_at: time('Its expiry.'),
  status: oneOf('Over it and all above it.', statuses),
})

/** Members of a body that says what a key may do. */
const rights = {
  'expires_at?': time('Default: in 90 days or with its parent. At most 366 days.'),
  'scopes?': list(
    oneOf('A right.', scopeNames),
    'Default: all but keys:mint and receipts:share, as far as the parent has them.',
  ),
  'models?': list(text('A glob.', 'counterfoil/*'), "Default: the parent's."),
  'ip_cidrs?': list(text('An address or network.', '203.0.113.0/24'), "Default: the parent's."),
  'limits?': object(
    'null is no limit of its own.',
    {
      'rpm?': orNull(rpm),
      'concurrency?': orNull(concurrency),
      'max_cost_per_run_nusd?': orNull(mostPerRun),
    },
    closed,
  ),
  'tags?': map(text('', 'research'), 'At most 8.', { team: 'research' }),
}

export const keySchemas: Schemas = {
  Key: object('A key: spends the balance of its account, up to its cap.', keyMembers),
  KeyWithSecret: object('A key and its secret, which is stored nowhere and shown this once.', {
    ...keyMembers,
    secret: orNull(
      text('The bearer credential; null where the answer is replayed.', 'sk-service-…', {
        pattern: '^sk-service-',
      }),
    ),
  }),
  KeySelf: object('A key, its account, and what would refuse its next call.', {
    ...keyMembers,
    account: object('Whose balance it spends.', {
      address: address('The account.'),
      balance_nusd: nusd('What there is.', 10_000_000_000),
      held_nusd: nusd('Reserved for runs in flight.', 0),
      available_nusd: nusd('What can still be spent.', 9_999_995_350),
      plan: text('Its plan.', 'free'),
    }),
    chain: list(chainItem, 'Each key that a spend is charged to, the caller first.'),
    next_block: orNull(
      object('What would refuse next.', {
        type: text('An error type.', 'key_expired'),
        at: time('When; now for what is used up already.'),
      }),
    ),
  }),
  KeyPage: object('Keys.', {
    object: only('list'),
    data: list(ref('Key'), 'The caller and the keys below it, newest first.'),
    has_more: flag('Whether `after` the last id finds more.', false),
    first_id: orNull(id('key', 'Id of the first one.')),
    last_id: orNull(id('key', 'Id of the last one: the next `after`.')),
  }),
  KeyWish: object(
    'A key to be made.',
    {
      name: text('1 to 64 characters.', 'research agent'),
      cap: object(
        'At most what the parent may spend.',
        {
          limit_nusd: nusd('The most in one window, at least 1.', 500_000_000),
          'window?': oneOf('Default: lifetime.', windows),
        },
        closed,
      ),
      ...rights,
      'parent_id?': id('key', 'The caller, which is the default, or a key below it.'),
    },
    closed,
  ),
  KeyChange: object(
    'What is to change. What is left out stays.',
    {
      'name?': text('1 to 64 characters.', 'research agent'),
      'cap?': object('', { limit_nusd: nusd('The new cap.', 400_000_000) }, closed),
      ...rights,
    },
    closed,
  ),
  KeyRotation: object(
    'How long the old secret still works.',
    { 'overlap_seconds?': integer('Seconds; default 0.', 3600, { minimum: 0, maximum: 604_800 }) },
    closed,
  ),
}
