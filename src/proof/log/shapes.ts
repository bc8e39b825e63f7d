/** The answers of the log: checkpoints and proofs. */
import * as t from '../../web/http/shape.ts'

const signature = (about: string) => t.text(about, `0x${'5c'.repeat(65)}`)

export const checkpointShape = t.answer(
  'Checkpoint',
  'A signed head of the log. Integers are decimal text.',
  {
    issuer: t.text('Origin of the log.', 'https://gw.example'),
    size: t.decimal('Leaves.', '12'),
    root: t.hash('Root of the tree.'),
    timestamp: t.decimal('Milliseconds.', '1785585600000'),
    signature: signature("The signer's, over EIP-712."),
  },
)

const anchorStatuses = [
  'disabled',
  'pending',
  'submitted',
  'superseded',
  'failed',
  'confirmed',
  'final',
] as const

export const proofShape = t.answer(
  'Proof',
  'That a receipt is in the log. Integers are decimal text.',
  {
    type: t.only('counterfoil.proof'),
    version: t.oneOf('2 where witnesses signed a head over the receipt.', ['1', '2']),
    receipt_id: t.id('rcpt', 'The receipt.'),
    log_id: t.hash('Keccak-256 of the origin of the log.'),
    index: t.decimal('Place of the leaf, from 0.', '11'),
    leaf: t.hash('SHA-256(0x00, kind, digest).'),
    size: t.decimal('Leaves of the log that the path is for.', '12'),
    path: t.list(t.hash('A node.'), 'RFC 9162, from the leaf to the root.'),
    checkpoint: checkpointShape,
    anchor: t.object('Where the root stands on chain 4663. Members are there as far as it went.', {
      status: t.oneOf('How far it is.', anchorStatuses),
      'chain_id?': t.integer('Always 4663.', 4663),
      'registry?': t.address('The contract.'),
      'log_owner?': t.address('Who opened the log there.'),
      'expected_by?': t.usuallyNull(t.time('When it should be there.')),
      'size?': t.decimal('That of the checkpoint.', '12'),
      'tx_hash?': t.hash('The transaction.'),
      'block_number?': t.decimal('The block.', '1234567'),
      'block_hash?': t.hash('The block.'),
      'block_time?': t.time('Of the block.'),
    }),
    'tlog?': t.text(
      'The same under a head that witnesses signed, as a file of c2sp.org/tlog-proof.',
      'c2sp.org/tlog-proof@v1\nindex 11\n…',
    ),
  },
)

/** The query of `GET /v1/receipts/:id/proof`. */
/** The other query of it. */
export const proofFormat = t.oneOf(
  '`tlog` is a file of c2sp.org/tlog-proof; `evidence` is what the upstream signed.',
  ['json', 'tlog', 'evidence'],
)

/** An example of such a file. */
export const tlogSample =
  'c2sp.org/tlog-proof@v1\nindex 1\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n\n' +
  'https://gw.example\n2\n…\n\n— https://gw.example …\n'

export const proofSize = t.integer('Another size of the log that was signed.', 12, { minimum: 1 })
