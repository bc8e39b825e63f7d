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
  map,
  object,
  oneOf,
  only,
  orNull,
  ref,
  type Schemas,
  sampleIds,
  text,
  time,
  usuallyNull,
} from '../schema.ts'
import { pageQuery } from './keys-area.ts'

const signature = (about: string) => text(about, `0x${'5c'.repeat(65)}`)

const checkpoint = object('A signed head of the log. Integers are decimal text.', {
  issuer: text('Origin of the log.', 'https://gw.example'),
  size: decimal('Leaves.', '12'),
  root: hash('Root of the tree.'),
  timestamp: decimal('Milliseconds.', '1785585600000'),
  signature: signature("The signer's, over EIP-712."),
})

const anchorStatuses = [
  'disabled',
  'pending',
  'submitted',
  'superseded',
  'failed',
  'confirmed',
  'final',
]

const proof = object('That a receipt is in the log. Integers are decimal text.', {
  type: only('counterfoil.proof'),
  version: only('1'),
  receipt_id: id('rcpt', 'The receipt.'),
  log_id: hash('Keccak-256 of the origin of the log.'),
  index: decimal('Place of the leaf, from 0.', '11'),
  leaf: hash('SHA-256(0x00, kind, digest).'),
  size: decimal('Leaves of the log that the path is for.', '12'),
  path: list(hash('A node.'), 'RFC 9162, from the leaf to the root.'),
  checkpoint,
  anchor: object('Where the root stands on chain 4663. Members are there as far as it went.', {
    status: oneOf('How far it is.', anchorStatuses),
    'chain_id?': integer('Always 4663.', 4663),
    'registry?': address('The contract.'),
    'log_owner?': address('Who opened the log there.'),
    'expected_by?': usuallyNull(time('When it should be there.')),
    'size?': decimal('That of the checkpoint.', '12'),
    'tx_hash?': hash('The transaction.'),
    'block_number?': decimal('The block.', '1234567'),
    'block_hash?': hash('The block.'),
    'block_time?': time('Of the block.'),
  }),
})

const anchor = object('A head of the log on its way to the chain.', {
  id: id('anc', 'Id of the anchor.'),
  object: only('anchor'),
  status: oneOf('How far it is.', [
    'final',
    'pending',
    'submitted',
    'confirmed',
    'superseded',
    'failed',
  ]),
  size: integer('Leaves.', 12),
  prev_size: integer('Leaves of the anchor before.', 0),
  root: hash('Root of the tree.'),
  leaves: integer('New ones.', 12),
  tx_hash: orNull(hash('The transaction.')),
  block_number: orNull(integer('The block.', 1_234_567)),
  block_hash: orNull(hash('The block.')),
  block_time: orNull(time('Of the block.')),
  finalized_at: orNull(time('When the block was seen to be final.')),
  created_at: time('When it was made.'),
  explorer_url: usuallyNull(
    text('Where a block explorer shows it.', 'https://explorer.example/tx/0x…'),
  ),
})

const registryLogId = hash(
  'The id of the log in the registry: keccak256(abi.encode(4663, registry, log_owner, ' +
    'keccak256(origin))).',
)

const signerRange = object('A key, for a range of the log.', {
  address: address('Of the key.'),
  public_key: text('Uncompressed, as hex.', '0x04…'),
  from_index: integer('First place it signs for.', 0),
  until_index: orNull(integer('First place it does not sign for any more.', 100)),
  rotation: usuallyNull(anything('The statement that ended it, signed by it.', {})),
})

const types = map(
  list(object('', { name: text('', 'id'), type: text('', 'string') }), ''),
  'EIP-712 types.',
  { Line: [{ name: 'meter', type: 'string' }] },
)

const schemas: Schemas = {
  Checkpoint: checkpoint,
  Proof: proof,
  Anchor: anchor,
  Anchors: object('The head of the log, and the heads that went to the chain.', {
    object: only('list'),
    data: list(ref('Anchor'), 'The largest first; empty without a registry.'),
    has_more: flag('Whether `after` the last id finds more.', false),
    first_id: orNull(id('anc', 'Id of the first one.')),
    last_id: orNull(id('anc', 'Id of the last one: the next `after`.')),
    log: object('The log.', {
      id: hash('Keccak-256 of its origin.'),
      origin: text('Its origin.', 'https://gw.example'),
      size: integer('Leaves.', 12),
      checkpoint: orNull(ref('Checkpoint')),
    }),
    registry: usuallyNull(address('The contract.')),
    registry_log_id: usuallyNull(registryLogId),
    log_owner: usuallyNull(address('Who opened the log there.')),
    'consistency?': object('That a log of `to` leaves begins with its first `from`.', {
      from: decimal('Leaves.', '5'),
      to: decimal('Leaves.', '12'),
      path: list(hash('A node.'), 'RFC 9162.'),
    }),
  }),
  Signer: object('Whose signature a receipt must carry at which place of the log, and over what.', {
    object: only('signer'),
    address: address('Who signs now.'),
    public_key: text('Uncompressed, as hex.', '0x04…'),
    scheme: only('eip712-secp256k1'),
    issuer: text('Origin that receipts name.', 'https://gw.example'),
    domain: anything('EIP-712 domain.', {
      name: 'Counterfoil Receipt',
      version: '1',
      chainId: 4663,
    }),
    types,
    primary_type: only('Receipt'),
    other_types: types,
    from_index: integer('First place of the log that it signs for.', 0),
    previous: list(signerRange, 'Who signed before.'),
    log: object('The log.', {
      id: hash('Keccak-256 of its origin.'),
      origin: text('Its origin.', 'https://gw.example'),
      size: integer('Leaves.', 12),
    }),
    former_logs: list(
      object('A log that was abandoned; its receipts stand.', {
        id: hash('Keccak-256 of its origin.'),
        origin: text('Its origin.', 'https://gw.example'),
        size: integer('Leaves.', 12),
        opened_at: time('When it was opened.'),
        reason_of_opening: usuallyNull(text('Why.', 'restored from a backup')),
        signers: list(signerRange, 'Who signed in it.'),
      }),
      'Usually none.',
    ),
    registry: usuallyNull(address('The contract that heads of the log go to.')),
    registry_log_id: usuallyNull(registryLogId),
    treasury: usuallyNull(address('Where deposits are sent.')),
    token: address('The stablecoin.'),
    max_anchor_delay_s: integer('The longest that a receipt waits for its anchor. Seconds.', 600),
  }),
}

export const logArea: Area = {
  id: 'log',
  group: 'programs',
  title: 'Log, anchors, signer',
  about:
    'Every receipt is a leaf of one append-only Merkle tree (RFC 9162, SHA-256). Its heads are ' +
    'signed, and go to a contract on chain 4663 that only takes what continues the log.',
  operations: [
    {
      id: 'listAnchors',
      route: 'GET /v1/anchors',
      title: 'The log and its anchors',
      about:
        'Keep a checkpoint, ask later with `from` its size: `consistency` leads from it to the ' +
        'latest one, or to `to`. Nothing between was dropped, changed or reordered.',
      access: 'none',
      query: {
        ...pageQuery,
        after: text('`last_id` of the page before.', sampleIds.anc),
        from: integer('A size of the log.', 1, { minimum: 1 }),
        to: integer('A larger size.', 2, { minimum: 1 }),
      },
      examples: [
        { name: 'The head', status: 200 },
        { name: 'From one size to another', query: { from: '1', to: '2' }, status: 200 },
      ],
      answers: [ok('The log.', ref('Anchors'))],
    },
    {
      id: 'showSigner',
      route: 'GET /v1/signer',
      title: 'Who signs',
      about: 'Learn it once, from somewhere you trust, and check receipts against it.',
      access: 'none',
      examples: [{ name: 'Who signs', status: 200 }],
      answers: [ok('The signer.', ref('Signer'))],
    },
  ],
  schemas,
}
