import {
  anything,
  closed,
  decimal,
  flag,
  hash,
  id,
  integer,
  list,
  object,
  oneOf,
  only,
  orNull,
  ref,
  type Schema,
  type Schemas,
  text,
  time,
} from '../schema.ts'

const sectionNames = ['subject', 'passport', 'run', 'charge', 'content']
const visibilities = ['private', 'unlisted', 'public']
const salt = hash('Makes the section unguessable.')

/** A section, or its hash where it is not shown: the digest is the same. */
const section = (about: string, members: Record<string, Schema>): Schema => ({
  description: `${about} Or \`{"$hash"}\` where it is not shown.`,
  anyOf: [
    object('', members, closed),
    object('', { $hash: hash('EIP-712 hash of the section.') }, closed),
  ],
})

const receipt = object(
  'What is signed, as EIP-712 typed data. Integers are decimal text.',
  {
    id: id('rcpt', 'Id of the receipt.'),
    issuer: text('Origin of who issued it.', 'https://gw.example'),
    issuedAt: decimal('Milliseconds.', '1785585600000'),
    subject: section('Who ran it.', {
      account: text('Address of the account.', '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'),
      key: id('key', 'Public id of the key.'),
      salt,
    }),
    passport: section('As whom.', { handle: text('Empty for none.', ''), salt }),
    run: section('What ran.', {
      kind: oneOf('What kind.', ['chat', 'embedding', 'terminal']),
      model: text('The model.', 'counterfoil/echo-1'),
      route: text('Where it ran.', 'builtin:counterfoil/echo-1'),
      outcome: text('How it ended.', 'complete'),
      startedAt: decimal('Milliseconds.', '1785585600000'),
      durationMs: decimal('Milliseconds.', '12'),
      usageSource: text('Who counted.', 'embedded'),
      salt,
    }),
    charge: section('What it cost.', {
      unit: only('nUSD'),
      lines: list(
        object(
          '',
          {
            meter: text('What was counted.', 'input'),
            quantity: decimal('Units.', '5'),
            price: decimal('Pico-USD a unit.', '150000'),
          },
          closed,
        ),
        'The amount follows from these.',
      ),
      discountBps: decimal('Hundredths of a percent.', '0'),
      amount: decimal('Nano-USD.', '4650'),
      priceList: text('`id@version`.', 'default@1'),
      salt,
    }),
    content: section('Commitments to what went in and came out; 32 zero bytes for none.', {
      input: hash('To the request body.'),
      output: hash('To the choices, or the vectors.'),
    }),
  },
  closed,
)

const disclosure = object('Opens a commitment.', {
  salt,
  'value?': anything('The text, where it is shown.', { model: 'counterfoil/echo-1' }),
})

/** The members of a receipt file. */
export const receiptFileMembers = {
  type: only('counterfoil.receipt'),
  version: only('1'),
  receipt: ref('ReceiptBody'),
  digest: hash('EIP-712 digest: what was signed, and the leaf of the log.'),
  signature: text('65 bytes as hex, secp256k1, low s.', `0x${'5c'.repeat(65)}`, {
    pattern: '^0x[0-9a-f]{130}$',
  }),
  'disclosures?': object('What opens the commitments.', {
    'input?': disclosure,
    'output?': disclosure,
  }),
  'proof?': ref('Proof'),
}

const visibility = oneOf('Who may see it: `unlisted` is for whoever has the id.', visibilities)
const texts = object('', { value: anything('The text.', { model: 'counterfoil/echo-1' }) }, closed)

const checkNames = [
  ...['schema', 'digest', 'signature', 'signer_authorized', 'issuer', 'arithmetic', 'leaf'],
  ...['inclusion', 'checkpoint_signature', 'checkpoint_consistent', 'anchor', 'anchor_final'],
  ...['content_input', 'content_output', 'known_here'],
]

export const receiptSchemas: Schemas = {
  ReceiptBody: receipt,
  ReceiptFile: object('A receipt as a file: everything that is needed to check it offline.', {
    ...receiptFileMembers,
    'visibility?': visibility,
  }),
  ListedReceipt: object('A receipt in a list of its owner; without texts and proof.', {
    id: id('rcpt', 'Id of the receipt.'),
    object: only('receipt'),
    log_index: integer('Its place in the log, from 0.', 11, { minimum: 0 }),
    run_id: id('run', 'The run.'),
    visibility,
    ...receiptFileMembers,
  }),
  ReceiptPage: object('Receipts.', {
    object: only('list'),
    data: list(ref('ListedReceipt'), 'Newest first.'),
    has_more: flag('Whether `after` the last id finds more.', false),
    first_id: orNull(id('rcpt', 'Id of the first one.')),
    last_id: orNull(id('rcpt', 'Id of the last one: the next `after`.')),
  }),
  ShareWish: object(
    'How a receipt is to be shown.',
    {
      visibility,
      'sections?': list(oneOf('A section.', sectionNames), 'Default: run, charge, passport.', {
        uniqueItems: true,
        examples: [['run', 'charge']],
      }),
      'reveal?': list(oneOf('A text.', ['input', 'output']), 'Default: none.', {
        uniqueItems: true,
        examples: [[]],
      }),
      'disclosures?': object(
        'Texts to reveal, where they are not kept.',
        { 'input?': texts, 'output?': texts },
        { ...closed, examples: [{}] },
      ),
    },
    closed,
  ),
  Share: object('How a receipt is shown now.', {
    object: only('share'),
    receipt_id: id('rcpt', 'The receipt.'),
    visibility,
    sections: list(oneOf('A section.', sectionNames), 'What is shown.'),
    reveal: list(oneOf('A text.', ['input', 'output']), 'Which texts are shown.'),
    url: orNull(text('Its page for everybody.', 'https://gw.example/receipts/rcpt_…')),
    created_at: orNull(time('When it was first shared.')),
    updated_at: orNull(time('When that last changed.')),
  }),
  Erasure: object('That the texts of a receipt cannot be found any more.', {
    object: only('erasure'),
    receipt_id: id('rcpt', 'The receipt.'),
    erased_at: time('When.'),
  }),
  VerifyRequest: object(
    'A receipt file itself, `{"receipt": <file>, …}`, or `{"id"}` of a shared receipt.',
    {
      'id?': id('rcpt', 'A shared receipt of this server.'),
      'receipt?': anything('A receipt file.', {}),
      'proof?': anything('Beside the file; wins over the one inside.', {}),
      'disclosures?': anything('Beside the file.', {}),
      'checkpoint?': anything('Another checkpoint of the log, kept from before.', {}),
      'consistency?': anything('The path between the two, of `GET /v1/anchors?from=`.', {}),
      'options?': object('', {
        'chain?': oneOf('Whether the chain is asked. Default: auto.', ['auto', 'skip', 'require']),
      }),
    },
    { examples: [{ id: 'rcpt_01k1j8dq00b4d6f8h1k3m5p7r9' }] },
  ),
  Verdict: object('What holds of a receipt, and what does not.', {
    valid: flag('Whether it is good: no check failed and the signer is ours.', true),
    level: orNull(
      oneOf('How far its evidence reaches.', ['logged', 'signed', 'anchored', 'final']),
    ),
    receipt_id: orNull(id('rcpt', 'The receipt.')),
    digest: orNull(hash('As computed from its fields.')),
    signer: orNull(text('Who signed it.', '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266')),
    checks: list(
      object('', {
        name: oneOf('What was checked.', checkNames),
        status: oneOf('How it came out.', ['pass', 'fail', 'skip', 'unavailable']),
        reason: text('Why, in words.', 'The file is a receipt of version 1.'),
      }),
      'Each check.',
    ),
    hidden: list(oneOf('A section.', sectionNames), 'Sections that are not shown.'),
    proves: list(text('', 'who signed it'), 'In words.'),
    does_not_prove: list(text('', 'that the text is true'), 'In words.'),
    'verified_at?': time('When.'),
    source: oneOf('Whose copy was checked.', ['stored', 'given']),
  }),
}
