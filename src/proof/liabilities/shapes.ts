/** The answers of liabilities. */
import * as t from '../../web/http/shape.ts'
import { checkpointShape } from '../log/shapes.ts'

const statementShape = t.object(
  'What is signed, as EIP-712 typed data (`other_types` of `GET /v1/signer`). Integers are ' +
    'decimal text.',
  {
    issuer: t.text('Origin of the log that it is a leaf of.', 'https://gw.example'),
    number: t.decimal('1 for the first, then one more each time.', '12'),
    previous: t.hash('Digest of the one before; zero for the first.'),
    as_of: t.decimal('Milliseconds: when all balances were read, at one moment.', '1785585600000'),
    leaves: t.decimal('Leaves of the tree, a power of two; many are empty.', '256'),
    root: t.hash('Its root.'),
    total_nusd: t.decimal('All balances together. Nano-USD.', '125000000000'),
    treasury: t.text('Where deposits go; 20 zero bytes for none.', `0x${'0'.repeat(40)}`),
    token: t.text('The stablecoin; 20 zero bytes for none.', `0x${'0'.repeat(40)}`),
    treasury_nusd: t.decimal('Its holdings, as the service read them. Nano-USD.', '0'),
    block: t.decimal('At this block of chain 4663; 0 where it could not be read.', '0'),
  },
)

const signature = t.text('65 bytes as hex, secp256k1, low s.', `0x${'5c'.repeat(65)}`)

const itemShape = t.answer('LiabilitiesItem', 'The liabilities to all accounts at one moment.', {
  id: t.text('Its number.', '12'),
  object: t.only('liabilities'),
  statement: statementShape,
  digest: t.hash('EIP-712 digest: what is signed, and the leaf of the log.'),
  signature,
  log_index: t.integer('Of the leaf.', 3100),
})

export type LiabilitiesItem = t.Static<typeof itemShape>

export const liabilitiesPageShape = t.page('LiabilitiesPage', 'A page of statements.', itemShape)

const file = {
  type: t.only('counterfoil.liabilities'),
  version: t.only('1'),
  statement: statementShape,
  signature,
  log: t.object('Where it is in the log.', {
    index: t.decimal('Of the leaf.', '3100'),
    path: t.list(t.hash(''), 'From the leaf to the root of the checkpoint.'),
    checkpoint: checkpointShape,
  }),
}

export const liabilitiesFileShape = t.answer(
  'LiabilitiesFile',
  'A statement as a file, for `counterfoil verify`.',
  file,
)

export const ownLiabilitiesShape = t.answer(
  'OwnLiabilitiesFile',
  'The same with the path from the own balance to the total.',
  {
    ...file,
    own: t.object('How the account was counted.', {
      account: t.address('The account.'),
      balance_nusd: t.decimal('Its balance, holds included. Nano-USD.', '5000000000'),
      nonce: t.hash('Hides the account from all others.'),
      index: t.decimal('Of its leaf.', '17'),
      path: t.list(
        t.object('', {
          hash: t.hash('Of the sibling.'),
          sum_nusd: t.decimal('All leaves below it together. Nano-USD.', '0'),
        }),
        'From the leaf up.',
      ),
    }),
  },
)
