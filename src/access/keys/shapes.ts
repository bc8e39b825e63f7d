/** The answers of `/v1/keys` and `/v1/balance`. */
import { capWindows } from '../../ledger/window.ts'
import * as t from '../../web/http/shape.ts'
import { brakeMembers, limitShape } from './api/key-body.ts'
import { scopes } from './key.ts'
import { everyLimit } from './key-limits.ts'

const statuses = ['usable', 'paused', 'expired', 'revoked'] as const

const limitMembers = Object.fromEntries(
  everyLimit.map(([, limit]) => {
    const shape = limitShape(limit)
    return [limit.member, limit.unset === null ? t.usuallyNull(shape) : shape]
  }),
)

const limits = t.object(
  'Of the key and the keys below it together. null means that it sets none itself.',
  {
    ...limitMembers,
    brake: t.usuallyNull(
      t.object('What may be spent in a minute and in an hour. A hold beyond it pauses the key.', {
        nusd_per_minute: brakeMembers['nusd_per_minute?'],
        nusd_per_hour: brakeMembers['nusd_per_hour?'],
        running: brakeMembers['running?'],
      }),
    ),
  },
)

const cap = t.object('What it may spend, and has spent, with the keys below it.', {
  limit_nusd: t.nusd('The most in one window.', 5_000_000_000),
  window: t.oneOf('Starts at 00:00 UTC, on Monday, on the 1st.', capWindows),
  spent_nusd: t.nusd('Spent in the present window.', 4650),
  held_nusd: t.nusd('Reserved for runs in flight.', 0),
  remaining_nusd: t.nusd('What is left.', 4_999_995_350),
  resets_at: t.usuallyNull(t.time('When the next window starts; null for a lifetime.')),
})

const keyMembers = {
  id: t.id('key', 'Id of the key.'),
  object: t.only('key'),
  name: t.text('1 to 64 characters.', 'research agent'),
  fingerprint: t.text('First 12 hex digits of the SHA-256 of its secret.', '9f2c4e6a8b0d'),
  parent_id: t.usuallyNull(t.id('key', 'The key above it.')),
  depth: t.integer('0 for a key without a parent.', 0, { minimum: 0, maximum: 4 }),
  status: t.oneOf('Computed over the key and all above it.', statuses),
  created_at: t.time('When it was made.'),
  expires_at: t.time('From then on it is refused.'),
  paused_at: t.usuallyNull(t.time('When it was paused itself.')),
  paused_reason: t.usuallyNull(
    t.oneOf('`brake`, `leak`, or null for a pause by hand.', ['brake', 'leak']),
  ),
  revoked_at: t.usuallyNull(t.time('When it was revoked.')),
  revoked_by: t.usuallyNull(t.text('Who revoked it: a key id, or the account.', 'operator')),
  last_used_at: t.usuallyNull(t.time('Exact to a minute.')),
  cap,
  limits,
  scopes: t.list(t.word('A right.', scopes), 'What it may do.'),
  models: t.list(t.text('A glob.', 'counterfoil/*'), 'Models it may use. Empty: all.'),
  ip_cidrs: t.list(
    t.text('An address or network.', '203.0.113.0/24'),
    'Where it works. Empty: all.',
  ),
  tags: t.map(t.text('', 'research'), 'At most 8, noted with its runs.', { team: 'research' }),
  passport: t.usuallyNull(t.text('Handle of the passport it is bound to.', 'scout')),
  children_count: t.count('Keys right below it.', 0),
  rotation: t.usuallyNull(
    t.object('While an old secret still works.', {
      overlap_until: t.time('When the old secret stops.'),
    }),
  ),
}

const money = {
  covers: t.oneOf('Whose the figures are: a key below another sees its own part.', [
    'account',
    'key',
  ]),
  balance_nusd: t.nusd('Balance, holds included.', 10_000_000_000),
  held_nusd: t.nusd('Reserved for runs in flight.', 0),
  available_nusd: t.nusd('What can still be spent.', 10_000_000_000),
  plan: t.text('Its plan.', 'free'),
}

const chainItem = t.object('A key of the chain, the caller first.', {
  key_id: t.id('key', 'The key.'),
  limited_by: t.oneOf('As a refusal would say it.', ['key', 'ancestor']),
  limit_nusd: t.nusd('Its cap.', 5_000_000_000),
  remaining_nusd: t.nusd('What is left of it.', 4_999_995_350),
  resets_at: t.usuallyNull(t.time('When its window ends.')),
  expires_at: t.time('Its expiry.'),
  status: t.oneOf('Over it and all above it.', statuses),
})

export const keyShape = t.answer(
  'Key',
  'A key: spends the balance of its account, up to its cap.',
  {
    ...keyMembers,
    'left_paused?': t.list(t.text('', 'key_…'), 'After a leak.'),
  },
)

export const keyWithSecretShape = t.answer(
  'KeyWithSecret',
  'A key and its secret, which is stored nowhere and shown this once.',
  {
    ...keyMembers,
    secret: t.orNull(
      t.text('The bearer credential; null where the answer is replayed.', 'sk-service-…', {
        pattern: '^sk-service-',
      }),
    ),
  },
)

export const keySelfShape = t.answer(
  'KeySelf',
  'A key, its account, and what would refuse its next call.',
  {
    ...keyMembers,
    account: t.object('Whose balance it spends.', {
      address: t.address('The account.'),
      ...money,
    }),
    chain: t.list(chainItem, 'Each key that a spend is charged to, the caller first.'),
    next_block: t.orNull(
      t.object('What would refuse next.', {
        type: t.text('An error type.', 'key_expired'),
        at: t.time('When; now for what is used up already.'),
      }),
    ),
  },
)

export const keyPageShape = t.answer('KeyPage', 'Keys.', {
  object: t.only('list'),
  data: t.list(keyShape, 'The caller and the keys below it, newest first.'),
  has_more: t.flag('Whether `after` the last id finds more.', false),
  first_id: t.orNull(t.id('key', 'Id of the first one.')),
  last_id: t.orNull(t.id('key', 'Id of the last one: the next `after`.')),
})

export const ownKeyPageShape = t.page('OwnKeyPage', 'Keys of an account.', keyShape)

export const balanceShape = t.answer('Balance', 'The money that a key may know of.', {
  object: t.only('balance'),
  account: t.address('Whose it is.'),
  ...money,
})

export type KeyAnswer = t.Static<typeof keyShape>
export type KeySelfAnswer = t.Static<typeof keySelfShape>
export type BalanceAnswer = t.Static<typeof balanceShape>
