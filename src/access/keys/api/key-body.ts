/** The bodies of `/v1/keys`. A start loads these; the answers load with the reference. */
import { capWindows } from '../../../ledger/window.ts'
import * as t from '../../../web/http/shape.ts'
import { scopes } from '../key.ts'
import { everyLimit, type KeyLimit } from '../key-limits.ts'

/** The limits of a brake, for a key and the keys below it. */
export const brakeMembers = {
  'nusd_per_minute?': t.orNull(t.nusd('The most in a minute by the clock.', 100_000_000)),
  'nusd_per_hour?': t.orNull(t.nusd('The most in an hour by the clock.', 1_000_000_000)),
  'running?': t.oneOf('What becomes of open runs when it is pulled. Default: finish.', [
    'finish',
    'stop',
  ]),
}

/** The shape of a limit that a key sets. */
export function limitShape({ kind, about, example }: KeyLimit<unknown>): t.TSchema {
  if (kind === 'flag') return t.flag(about, example === true)
  if (kind === 'amount') return t.nusd(about, Number(example))
  return t.integer(about, Number(example), t.told({ minimum: 1 }))
}

const limitMembers = Object.fromEntries(
  everyLimit.map(([, limit]) => [`${limit.member}?`, t.orNull(limitShape(limit))]),
)

/** Members of a body that says what a key may do. */
const rights = {
  'expires_at?': t.time('Default: in 90 days or with its parent. At most 366 days.'),
  'scopes?': t.list(
    t.word('A right.', scopes),
    'Default: all but keys:mint, receipts:share and webhooks:write, of those of the parent.',
  ),
  'models?': t.list(t.text('A glob.', 'counterfoil/*'), "Default: the parent's."),
  'ip_cidrs?': t.list(t.text('An address or network.', '203.0.113.0/24'), "Default: the parent's."),
  'limits?': t.closed('null means that it sets none itself.', {
    ...limitMembers,
    'brake?': t.orNull(
      t.closed(
        'A hold that would pass it pauses the key. Changed whole; null takes it off.',
        brakeMembers,
      ),
    ),
  }),
  'tags?': t.map(t.text('', 'research'), 'At most 8.', { team: 'research' }),
}

export const mintMembers = {
  name: t.text('1 to 64 characters.', 'research agent'),
  cap: t.closed('At most what the parent may spend.', {
    limit_nusd: t.nusd('The most in one window, at least 1.', 500_000_000),
    'window?': t.oneOf('Default: lifetime.', capWindows),
  }),
  ...rights,
  'parent_id?': t.id('key', 'The caller, which is the default, or a key below it.'),
}

export const mintBody = t.body('KeyWish', 'A key to be made.', mintMembers)

export const changeBody = t.body('KeyChange', 'The members to change. Members left out stay.', {
  'name?': t.text('1 to 64 characters.', 'research agent'),
  'cap?': t.closed('', { limit_nusd: t.nusd('The new cap.', 400_000_000) }),
  ...rights,
})

export const rotateBody = t.body('KeyRotation', 'How long the old secret still works.', {
  'overlap_seconds?': t.integer(
    'Seconds; default 0.',
    3600,
    t.told({ minimum: 0, maximum: 604_800 }),
  ),
})

export type MintBody = t.Static<typeof mintBody>

export type ChangeBody = t.Static<typeof changeBody>
