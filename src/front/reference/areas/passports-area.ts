import { type Area, ok } from '../operation.ts'
import {
  address,
  anything,
  decimal,
  flag,
  hash,
  id,
  integer,
  list,
  nusd,
  object,
  oneOf,
  only,
  orNull,
  page,
  ref,
  type Schemas,
  sampleIds,
  text,
  time,
  usuallyNull,
} from '../schema.ts'
import { pageQuery } from './keys-area.ts'

const kinds = ['agent', 'person', 'service']
const handle = text('Its name, given once and never again.', 'scout', {
  pattern: '^[a-z][a-z0-9-]{2,29}$',
})
const bands = [
  'under_1_usd',
  'none',
  '1_to_10_usd',
  '10_to_100_usd',
  '100_to_1000_usd',
  'over_1000_usd',
]

/** What everybody sees of a passport. */
export const passportMembers = {
  id: id('psp', 'Id of the passport.'),
  object: only('passport'),
  handle,
  display_name: text('For people.', 'Scout'),
  kind: oneOf('Who that is.', kinds),
  bio: text('At most 280 characters. The service vouches for none of it.', 'Finds things.'),
  links: list(text('https only.', 'https://scout.example/'), 'At most 5.'),
  status: only('public'),
  created_at: time('When it was made.'),
  owner: usuallyNull(address('Its account, only if the owner says so.')),
  url: text('Its page.', 'https://gw.example/passports/scout'),
  track_record: ref('TrackRecord'),
}

const endpoint = object('Where it can be reached.', {
  name: text('What that is.', 'web'),
  endpoint: text('Address.', 'https://gw.example/passports/scout'),
  'version?': text('Of what is there.', 'v1'),
})

const schemas: Schemas = {
  Passport: object('A public identity of an agent, a person or a service.', passportMembers),
  PassportDetail: object('A passport with its newest signed record.', {
    ...passportMembers,
    statement: usuallyNull(ref('PassportStatement')),
    'receipts?': list(ref('PassportReceipt'), 'With `receipts=1`: at most 20 public ones.'),
  }),
  PassportPage: page('Passports.', 'Passport'),
  TrackRecord: object('What the log says of it. Coarse where a private run could be read off.', {
    as_of_size: integer('Leaves of the log that were counted.', 12, { minimum: 0 }),
    runs: integer('Receipts that were issued while a key was bound to it.', 10, { minimum: 0 }),
    succeeded: integer('Of these, of complete runs.', 9, { minimum: 0 }),
    success_rate_bps: orNull(integer('Hundredths of a percent; null without a run.', 9000)),
    models: list(text('A model.', 'counterfoil/echo-1'), 'The most used first, at most 50.'),
    active_days: integer('Days (UTC) with a receipt.', 3, { minimum: 0 }),
    first_at: orNull(time('Midnight of the first such day.')),
    last_at: orNull(time('Midnight of the last such day.')),
    spend_band: oneOf('What it spent, roughly.', bands),
    public_receipts: integer('Receipts that show it to everybody, now.', 1, { minimum: 0 }),
  }),
  PassportStatement: object('A record, signed, and a leaf of the log. Integers are decimal text.', {
    object: only('passport_statement'),
    type: only('counterfoil.passport-statement'),
    version: only('1'),
    issuer: text('Origin of the log.', 'https://gw.example'),
    handle,
    as_of_size: decimal('Leaves of the log that were counted.', '12'),
    record: ref('TrackRecord'),
    record_hash: hash('SHA-256 over its JCS.'),
    digest: hash('EIP-712 digest.'),
    signature: text('65 bytes as hex.', `0x${'5c'.repeat(65)}`),
    signer: address('Who signed it.'),
    log_index: decimal('Its place in the log.', '12'),
    'proof?': anything('That it is in the log.', {}),
    created_at: time('When.'),
    file_url: text('The file with its proof.', 'https://gw.example/passports/scout/statement'),
  }),
  PassportReceipt: object('A public receipt, as far as its owner shows it.', {
    id: id('rcpt', 'Id of the receipt.'),
    object: only('receipt'),
    digest: orNull(hash('What was signed.')),
    model: orNull(text('The model.', 'counterfoil/echo-1')),
    kind: orNull(text('What kind.', 'chat')),
    outcome: orNull(text('How it ended.', 'complete')),
    issued_at: orNull(time('When.')),
    cost_nusd: orNull(nusd('What was charged.', 4650)),
    url: text('Its page.', 'https://gw.example/receipts/rcpt_…'),
  }),
  AgentRegistration: object('The agent registration file of ERC-8004.', {
    type: only('https://eips.ethereum.org/EIPS/eip-8004#registration-v1'),
    name: text('For people.', 'Scout'),
    description: text('Its bio.', 'Finds things.'),
    image: text('Its picture.', 'https://gw.example/passports/scout/rosette.svg'),
    services: list(endpoint, 'Where it can be reached.'),
    endpoints: list(endpoint, 'The same, by its older name.'),
    x402Support: flag('', false),
    active: flag('', true),
    registrations: list(anything('', {}), 'None that this service made.', { examples: [[]] }),
    supportedTrust: list(text('', ''), 'None.', { examples: [[]] }),
  }),
}

const named = { handle }

export const passportsArea: Area = {
  id: 'passports',
  group: 'programs',
  title: 'Passports',
  about:
    'A public identity, and what the log says of it: counted from receipts, signed, and ' +
    'provable. Made and changed in the dashboard.',
  operations: [
    {
      id: 'listPassports',
      route: 'GET /v1/passports',
      title: 'List passports',
      about:
        'The public ones, newest or busiest first. No walk shows one twice; by runs it passes ' +
        'over one that overtakes it meanwhile.',
      access: 'none',
      query: {
        ...pageQuery,
        after: text('`last_id` of the page before.', sampleIds.psp),
        kind: oneOf('Only those.', kinds),
        sort: oneOf('Default: newest.', ['newest', 'runs']),
      },
      examples: [
        { name: 'The busiest agents', query: { kind: 'agent', sort: 'runs' }, status: 200 },
      ],
      answers: [ok('A page of passports.', ref('PassportPage'))],
    },
    {
      id: 'showPassport',
      route: 'GET /v1/passports/:handle',
      title: 'One passport',
      about: 'With `format=erc8004` as an agent registration file. A retired one is a 410.',
      access: 'none',
      path: named,
      query: {
        receipts: oneOf('Whether to name public receipts.', ['0', '1']),
        format: oneOf('Default: json.', ['json', 'erc8004']),
      },
      examples: [
        {
          name: 'With its receipts',
          path: { handle: 'scout' },
          query: { receipts: '1' },
          status: 200,
        },
        {
          name: 'For a registry of agents',
          path: { handle: 'scout' },
          query: { format: 'erc8004' },
          status: 200,
        },
      ],
      answers: [
        ok('The passport, or its registration file.', {
          anyOf: [ref('PassportDetail'), ref('AgentRegistration')],
        }),
      ],
      refuses: ['not_found', 'gone'],
    },
  ],
  schemas,
}
