/** The forms of `/api/portal/keys`: all of it text; an empty field is left out. */
import { Type } from '@sinclair/typebox'
import { capWindows } from '../../../ledger/window.ts'
import * as t from '../../../web/http/shape.ts'
import { scopes } from '../key.ts'
import { everyLimit } from '../key-limits.ts'

const field = (about: string, example: string) => Type.Optional(t.text(about, example))

const boxes = Object.fromEntries(
  scopes.map((scope) => [`scope.${scope}`, field(`Any text: the box of \`${scope}\`.`, 'true')]),
)

const limits = Object.fromEntries(
  everyLimit.map(
    ([
      ,
      {
        field: { name, about, example },
      },
    ]) => [name, field(about, example)],
  ),
)

/** The fields of a form that makes a key or changes one. */
export const keyForm = t.body('KeyForm', 'A key as a form. A new one needs `name` and `cap`.', {
  name: field('1 to 64 characters.', 'research agent'),
  parent_id: field('Of a new key: the one above it.', 'key_01k1j8dq00v5x3c7n9m2p4r6t8'),
  cap: field('Decimal USD.', '5.00'),
  window: field(`Of a new key: ${capWindows.join(', ')}; default: lifetime.`, 'day'),
  expires: field('Days from now.', '30'),
  expires_on: field('The last day, UTC; wins over `expires`.', '2027-01-31'),
  models: field('Globs, one a line.', 'counterfoil/*'),
  scopes: field('Scopes, with commas; or the boxes below.', 'runs:write,runs:read'),
  scopes_from: field('Any text: the form has boxes, and absent ones are empty.', 'boxes'),
  ...boxes,
  ip_cidrs: field('Addresses and networks, one a line.', '203.0.113.0/24'),
  tags: field('`name=value`, one a line.', 'team=research'),
  ...limits,
  brake_per_minute: field('Decimal USD a minute; empty for no brake.', '0.50'),
  brake_per_hour: field('Decimal USD an hour; empty for no brake.', '5.00'),
  brake_running: field('Of open runs when it is pulled: `finish` or `stop`.', 'finish'),
  once: field('That of the page: the form makes one key, however often it is sent.', ''),
})

/** The fields of a form that rotates a secret. */
export const rotateForm = t.answer('KeyRotationForm', 'How a secret is to be rotated, as a form.', {
  fingerprint: field(
    'That of the secret as shown: one rotated meanwhile is a 409.',
    '9f2c4e6a8b0d',
  ),
  overlap_seconds: field('How long the old secret still works; default: 0.', '3600'),
})
