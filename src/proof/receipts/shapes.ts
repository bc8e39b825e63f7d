/** The answers of receipts, and the request to verify one. */
import { sectionNames } from '../../verify/receipt.ts'
import * as t from '../../web/http/shape.ts'
import { proofShape } from '../log/shapes.ts'
import { textNames, visibility } from './api/share-body.ts'

/** Whether a verification asks the chain. */
export const chainChoice = t.oneOf('Whether the chain is asked. Default: auto.', [
  'auto',
  'skip',
  'require',
])

const salt = t.hash('Makes the section unguessable.')

/** A section, or its hash where it is not shown: the digest is the same. */
const section = <M extends Record<string, t.TSchema>>(about: string, members: M) =>
  t.either(`${about} Or \`{"$hash"}\` where it is not shown.`, [
    t.closed('', members),
    t.closed('', { $hash: t.hash('EIP-712 hash of the section.') }),
  ])

const receipt = t.body(
  'ReceiptBody',
  'What is signed, as EIP-712 typed data. Integers are decimal text.',
  {
    id: t.id('rcpt', 'Id of the receipt.'),
    issuer: t.text('Origin of who issued it.', 'https://gw.example'),
    issuedAt: t.decimal('Milliseconds.', '1785585600000'),
    subject: section('Who ran it.', {
      account: t.text('Address of the account.', '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'),
      key: t.id('key', 'Public id of the key.'),
      salt,
    }),
    passport: section('As whom.', { handle: t.text('Empty for none.', ''), salt }),
    run: section('What ran.', {
      kind: t.oneOf('What kind.', ['chat', 'embedding', 'terminal']),
      model: t.text('The model.', 'counterfoil/echo-1'),
      route: t.text('Where it ran.', 'builtin:counterfoil/echo-1'),
      outcome: t.text('How it ended.', 'complete'),
      startedAt: t.decimal('Milliseconds.', '1785585600000'),
      durationMs: t.decimal('Milliseconds.', '12'),
      usageSource: t.text('Who counted.', 'embedded'),
      salt,
    }),
    charge: section('What it cost.', {
      unit: t.only('nUSD'),
      lines: t.list(
        t.closed('', {
          meter: t.text('What was counted.', 'input'),
          quantity: t.decimal('Units.', '5'),
          price: t.decimal('Pico-USD a unit.', '150000'),
        }),
        'The amount follows from these.',
      ),
      discountBps: t.decimal('Hundredths of a percent.', '0'),
      amount: t.decimal('Nano-USD.', '4650'),
      priceList: t.text('`id@version`.', 'default@1'),
      salt,
    }),
    content: section('Commitments to what went in and came out; 32 zero bytes for none.', {
      input: t.hash('To the request body.'),
      output: t.hash('To the choices, or the vectors.'),
    }),
  },
)

const disclosure = t.object('Opens a commitment.', {
  salt,
  'value?': t.anything('The text, where it is shown.', { model: 'counterfoil/echo-1' }),
})

/** The members of a receipt file. */
export const receiptFileMembers = {
  type: t.only('counterfoil.receipt'),
  version: t.only('1'),
  receipt,
  digest: t.hash('EIP-712 digest: what was signed, and the leaf of the log.'),
  signature: t.text('65 bytes as hex, secp256k1, low s.', `0x${'5c'.repeat(65)}`, {
    pattern: '^0x[0-9a-f]{130}$',
  }),
  'disclosures?': t.object('What opens the commitments.', {
    'input?': disclosure,
    'output?': disclosure,
  }),
  'proof?': proofShape,
}

const checkNames = [
  ...['schema', 'digest', 'signature', 'signer_authorized', 'issuer', 'arithmetic', 'quote'],
  ...[
    'leaf',
    'inclusion',
    'checkpoint_signature',
    'checkpoint_consistent',
    'anchor',
    'anchor_final',
    'witnessed',
    'attested',
  ],
  ...['content_input', 'content_output', 'known_here'],
] as const

export const receiptFileShape = t.answer(
  'ReceiptFile',
  'A receipt as a file: everything that is needed to check it offline.',
  {
    ...receiptFileMembers,
    'visibility?': visibility,
  },
)

export const listedReceiptShape = t.answer(
  'ListedReceipt',
  'A receipt in a list of its owner; without texts and proof.',
  {
    id: t.id('rcpt', 'Id of the receipt.'),
    object: t.only('receipt'),
    log_index: t.count('Its place in the log, from 0.', 11),
    run_id: t.id('run', 'The run.'),
    visibility,
    ...receiptFileMembers,
  },
)

export const receiptPageShape = t.answer('ReceiptPage', 'Receipts.', {
  object: t.only('list'),
  data: t.list(listedReceiptShape, 'Newest first.'),
  has_more: t.flag('Whether `after` the last id finds more.', false),
  first_id: t.orNull(t.id('rcpt', 'Id of the first one.')),
  last_id: t.orNull(t.id('rcpt', 'Id of the last one: the next `after`.')),
})

export const shareShape = t.answer('Share', 'How a receipt is shown now.', {
  object: t.only('share'),
  receipt_id: t.id('rcpt', 'The receipt.'),
  visibility,
  sections: t.list(t.oneOf('A section.', sectionNames), 'What is shown.'),
  reveal: t.list(t.oneOf('A text.', textNames), 'Which texts are shown.'),
  url: t.orNull(t.text('Its page for everybody.', 'https://gw.example/receipts/rcpt_…')),
  created_at: t.orNull(t.time('When it was first shared.')),
  updated_at: t.orNull(t.time('When that last changed.')),
})

export const erasureShape = t.answer(
  'Erasure',
  'That the texts of a receipt cannot be found any more.',
  {
    object: t.only('erasure'),
    receipt_id: t.id('rcpt', 'The receipt.'),
    erased_at: t.time('When.'),
  },
)

export const verifyRequestShape = t.answer(
  'VerifyRequest',
  'A receipt file itself, `{"receipt": <file>, …}`, or `{"id"}` of a shared receipt.',
  {
    'id?': t.id('rcpt', 'A shared receipt of this server.'),
    'receipt?': t.anything('A receipt file.', {}),
    'proof?': t.anything('Beside the file; wins over the one inside.', {}),
    'disclosures?': t.anything('Beside the file.', {}),
    'quote?': t.anything('The quote that the receipt names, to check that it was kept.', {}),
    'evidence?': t.anything('What the upstream signed, of the proof’s `?format=evidence`.', {}),
    'checkpoint?': t.anything('Another checkpoint of the log, kept from before.', {}),
    'consistency?': t.anything('The path between the two, of `GET /v1/anchors?from=`.', {}),
    'options?': t.object('', {
      'chain?': chainChoice,
    }),
  },
  { examples: [{ id: 'rcpt_01k1j8dq00b4d6f8h1k3m5p7r9' }] },
)

export const verdictShape = t.answer('Verdict', 'What holds of a receipt, and what does not.', {
  valid: t.flag('Whether it is good: no check failed and the signer is ours.', true),
  level: t.orNull(
    t.oneOf('How far its evidence reaches.', ['logged', 'signed', 'anchored', 'final']),
  ),
  evidence: t.list(
    t.oneOf('A kind.', ['signed', 'logged', 'witnessed', 'attested', 'anchored', 'final']),
    'What the verdict rests on; empty unless it is valid.',
  ),
  witnesses: t.list(
    t.object('A witness.', { name: t.text('Its name.', 'Example'), seen_at: t.time('When.') }),
    'Who saw the log with it.',
  ),
  receipt_id: t.orNull(t.id('rcpt', 'The receipt.')),
  digest: t.orNull(t.hash('As computed from its fields.')),
  signer: t.orNull(t.text('Who signed it.', '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266')),
  checks: t.list(
    t.object('', {
      name: t.oneOf('What was checked.', checkNames),
      status: t.oneOf('How it came out.', ['pass', 'fail', 'skip', 'unavailable']),
      reason: t.text('Why, in words.', 'The file is a receipt of version 1.'),
    }),
    'Each check.',
  ),
  hidden: t.list(t.oneOf('A section.', sectionNames), 'Sections that are not shown.'),
  proves: t.list(t.text('', 'who signed it'), 'In words.'),
  does_not_prove: t.list(t.text('', 'that the text is true'), 'In words.'),
  'verified_at?': t.time('When.'),
  source: t.oneOf('Whose copy was checked.', ['stored', 'given']),
})

export const ownReceiptShape = t.answer('OwnReceipt', 'A receipt in the list of its owner.', {
  id: t.id('rcpt', 'Id of the receipt.'),
  object: t.only('receipt'),
  run_id: t.id('run', 'The run.'),
  model: t.text('The model.', 'counterfoil/echo-1'),
  kind: t.oneOf('What kind of model.', ['chat', 'embedding']),
  outcome: t.text('How it ended.', 'complete'),
  cost_nusd: t.nusd('What was charged.', 4650),
  digest: t.hash('What was signed.'),
  issued_at: t.time('When.'),
  state: t.oneOf('How far it has come.', ['logged', 'signed', 'anchored', 'final']),
  visibility,
})

export const ownReceiptPageShape = t.page(
  'OwnReceiptPage',
  'Receipts of an account.',
  ownReceiptShape,
)

export const ownReceiptFileShape = t.answer(
  'OwnReceiptFile',
  'A receipt file with all that its owner sees.',
  {
    ...receiptFileMembers,
    visibility,
    share: shareShape,
  },
)

export type ShareAnswer = t.Static<typeof shareShape>
