/** The bodies and answers of passports. */

import { Type } from '@sinclair/typebox'
import * as t from '../../web/http/shape.ts'
import { kinds } from './profile.ts'

const handle = t.text('Its name, given once and never again.', 'scout', {
  pattern: '^[a-z][a-z0-9-]{2,29}$',
})

const bands = [
  'under_1_usd',
  'none',
  '1_to_10_usd',
  '10_to_100_usd',
  '100_to_1000_usd',
  'over_1000_usd',
] as const

export const trackRecordShape = t.answer(
  'TrackRecord',
  'What the log says of it. Coarse where a private run could be read off.',
  {
    as_of_size: t.count('Leaves of the log that were counted.', 12),
    runs: t.count('Receipts that were issued while a key was bound to it.', 10),
    succeeded: t.count('Of these, of complete runs.', 9),
    success_rate_bps: t.orNull(t.integer('Hundredths of a percent; null without a run.', 9000)),
    models: t.list(t.text('A model.', 'counterfoil/echo-1'), 'The most used first, at most 50.'),
    active_days: t.count('Days (UTC) with a receipt.', 3),
    first_at: t.orNull(t.time('Midnight of the first such day.')),
    last_at: t.orNull(t.time('Midnight of the last such day.')),
    spend_band: t.oneOf('What it spent, roughly.', bands),
    public_receipts: t.count('Receipts that show it to everybody, now.', 1),
  },
)

/** The public view of a passport. */
export const passportMembers = {
  id: t.id('psp', 'Id of the passport.'),
  object: t.only('passport'),
  handle,
  display_name: t.text('For people.', 'Scout'),
  kind: t.oneOf('Who that is.', kinds),
  bio: t.text('At most 280 characters. The service vouches for none of it.', 'Finds things.'),
  links: t.list(t.text('https only.', 'https://scout.example/'), 'At most 5.'),
  status: t.only('public'),
  created_at: t.time('When it was made.'),
  owner: t.usuallyNull(t.address('Its account, only if the owner says so.')),
  url: t.text('Its page.', 'https://gw.example/passports/scout'),
  track_record: trackRecordShape,
}

const endpoint = t.object('Where it can be reached.', {
  name: t.text('What that is.', 'web'),
  endpoint: t.text('Address.', 'https://gw.example/passports/scout'),
  'version?': t.text('Of what is there.', 'v1'),
})

export const passportShape = t.answer(
  'Passport',
  'A public identity of an agent, a person or a service.',
  passportMembers,
)

export const passportStatementShape = t.answer(
  'PassportStatement',
  'A record, signed, and a leaf of the log. Integers are decimal text.',
  {
    object: t.only('passport_statement'),
    type: t.only('counterfoil.passport-statement'),
    version: t.only('1'),
    issuer: t.text('Origin of the log.', 'https://gw.example'),
    handle,
    as_of_size: t.decimal('Leaves of the log that were counted.', '12'),
    record: trackRecordShape,
    record_hash: t.hash('SHA-256 over its JCS.'),
    digest: t.hash('EIP-712 digest.'),
    signature: t.text('65 bytes as hex.', `0x${'5c'.repeat(65)}`),
    signer: t.address('Who signed it.'),
    log_index: t.decimal('Its place in the log.', '12'),
    'proof?': t.anything('That it is in the log.', {}),
    created_at: t.time('When.'),
    file_url: t.text('The file with its proof.', 'https://gw.example/passports/scout/statement'),
  },
)

export const passportReceiptShape = t.answer(
  'PassportReceipt',
  'A public receipt, as far as its owner shows it.',
  {
    id: t.id('rcpt', 'Id of the receipt.'),
    object: t.only('receipt'),
    digest: t.orNull(t.hash('What was signed.')),
    model: t.orNull(t.text('The model.', 'counterfoil/echo-1')),
    kind: t.orNull(t.text('What kind.', 'chat')),
    outcome: t.orNull(t.text('How it ended.', 'complete')),
    issued_at: t.orNull(t.time('When.')),
    cost_nusd: t.orNull(t.nusd('What was charged.', 4650)),
    url: t.text('Its page.', 'https://gw.example/receipts/rcpt_…'),
  },
)

const shard = t.text('The shard that this is of; absent without shards.', 's3')

export const passportDetailShape = t.answer(
  'PassportDetail',
  'A passport with its newest signed record.',
  {
    ...passportMembers,
    'shard?': shard,
    statement: t.usuallyNull(passportStatementShape),
    'receipts?': t.list(passportReceiptShape, 'With `receipts=1`: at most 20 public ones.'),
  },
)

export const passportPageShape = t.page('PassportPage', 'Passports.', passportShape, {
  'shard?': shard,
})

export const agentRegistrationShape = t.answer(
  'AgentRegistration',
  'The agent registration file of ERC-8004.',
  {
    type: t.only('https://eips.ethereum.org/EIPS/eip-8004#registration-v1'),
    name: t.text('For people.', 'Scout'),
    description: t.text('Its bio.', 'Finds things.'),
    image: t.text('Its picture.', 'https://gw.example/passports/scout/rosette.svg'),
    services: t.list(endpoint, 'Where it can be reached.'),
    endpoints: t.list(endpoint, 'The same, by its older name.'),
    x402Support: t.flag('', false),
    active: t.flag('', true),
    registrations: t.list(t.anything('', {}), 'None that this service made.', { examples: [[]] }),
    supportedTrust: t.list(t.text('', ''), 'None.', { examples: [[]] }),
  },
)

const ownMembers = {
  ...passportMembers,
  status: t.oneOf('Whether others see it.', ['draft', 'public', 'hidden', 'retired']),
  show_owner: t.flag('Whether its page names the owner.', false),
  updated_at: t.time('When it was last changed.'),
  published_at: t.orNull(t.time('When it was first published.')),
  retired_at: t.usuallyNull(t.time('When it was retired.')),
  key_ids: t.list(t.id('key', 'A key.'), 'Keys that are bound to it.'),
}

export const ownPassportShape = t.answer(
  'OwnPassport',
  'A passport as its owner sees it.',
  ownMembers,
)

export const ownPassportDetailShape = t.answer(
  'OwnPassportDetail',
  'The same with its newest signed record.',
  {
    ...ownMembers,
    statement: t.usuallyNull(passportStatementShape),
  },
)

export const ownPassportPageShape = t.page(
  'OwnPassportPage',
  'Passports of an account.',
  ownPassportShape,
)

const field = (about: string, example: string) => t.text(about, example, { maxLength: 4000 })
const kind = t.oneOf('Who that is.', kinds)
const newHandle = field('3 to 30 characters: a letter, then letters, digits and hyphens.', 'scout')
const displayName = field('1 to 64 characters.', 'Scout')
const bio = field('At most 280 characters.', 'Finds things.')
const rest = {
  'bio?': bio,
  'links?': t.list(field('An https address.', 'https://scout.example/'), 'At most 5.', {
    maxItems: 50,
  }),
  'show_owner?': t.flag('Whether its page names the owner.', false),
}
const formRest = {
  'bio?': bio,
  'links?': field('One a line.', 'https://scout.example/'),
  'show_owner?': field('`true` names the owner on its page.', 'true'),
  'show_owner_from?': field(
    'Any text: the form has the box, and an absent `show_owner` is an empty one.',
    '1',
  ),
}
const whole = { handle: newHandle, display_name: displayName, kind }
const parts = { 'display_name?': displayName, 'kind?': kind }

/** The body of `POST /api/portal/passports`, and its form. */
export const createBody = t.body('PassportWish', 'A passport to be made.', { ...whole, ...rest })
export const createForm = t.body('PassportForm', 'A passport to be made, as a form.', {
  ...whole,
  ...formRest,
})

/** The body of `PATCH /api/portal/passports/:handle`, and its form. */
export const editBody = t.body(
  'PassportChange',
  'The members of a passport to change. Members left out stay.',
  { ...parts, ...rest },
)
export const editForm = t.body(
  'PassportChangeForm',
  'What of a passport is to change, as a form.',
  { ...parts, ...formRest },
)

/** The body of `POST /api/portal/passports/:handle/bind` and `unbind`. */
export const bindBody = t.body('PassportKey', 'Which key.', {
  'key_id?': t.either('A key of the account.', [Type.String({ maxLength: 64 }), Type.Null()], {
    examples: [t.sampleIds.key],
  }),
})

export type PassportAnswer = t.Static<typeof passportShape>
export type OwnPassportAnswer = t.Static<typeof ownPassportShape>
export type PassportStatementAnswer = t.Static<typeof passportStatementShape>
export type PassportReceiptAnswer = t.Static<typeof passportReceiptShape>
