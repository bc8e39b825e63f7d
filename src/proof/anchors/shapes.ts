/** The answers of `/v1/anchors`. */

import * as t from '../../web/http/shape.ts'
import { checkpointShape } from '../log/shapes.ts'

export const registryLogId = t.hash(
  'The id of the log in the registry: keccak256(abi.encode(4663, registry, log_owner, ' +
    'keccak256(origin))).',
)

export const anchorShape = t.answer('Anchor', 'A head of the log on its way to the chain.', {
  id: t.id('anc', 'Id of the anchor.'),
  object: t.only('anchor'),
  status: t.oneOf('How far it is.', [
    'final',
    'pending',
    'submitted',
    'confirmed',
    'superseded',
    'failed',
  ]),
  size: t.integer('Leaves.', 12),
  prev_size: t.integer('Leaves of the anchor before.', 0),
  root: t.hash('Root of the tree.'),
  leaves: t.integer('New ones.', 12),
  tx_hash: t.orNull(t.hash('The transaction.')),
  block_number: t.orNull(t.integer('The block.', 1_234_567)),
  block_hash: t.orNull(t.hash('The block.')),
  block_time: t.orNull(t.time('Of the block.')),
  finalized_at: t.orNull(t.time('When the block was seen to be final.')),
  created_at: t.time('When it was made.'),
  explorer_url: t.usuallyNull(
    t.text('Where a block explorer shows it.', 'https://explorer.example/tx/0x…'),
  ),
})

export const anchorsShape = t.answer(
  'Anchors',
  'The head of the log, and the heads that went to the chain.',
  {
    object: t.only('list'),
    data: t.list(anchorShape, 'The largest first; empty without a registry.'),
    has_more: t.flag('Whether `after` the last id finds more.', false),
    first_id: t.orNull(t.id('anc', 'Id of the first one.')),
    last_id: t.orNull(t.id('anc', 'Id of the last one: the next `after`.')),
    log: t.object('The log.', {
      id: t.hash('Keccak-256 of its origin.'),
      origin: t.text('Its origin.', 'https://gw.example'),
      size: t.integer('Leaves.', 12),
      checkpoint: t.orNull(checkpointShape),
    }),
    registry: t.usuallyNull(t.address('The contract.')),
    registry_log_id: t.usuallyNull(registryLogId),
    log_owner: t.usuallyNull(t.address('Who opened the log there.')),
    'consistency?': t.object('That a log of `to` leaves begins with its first `from`.', {
      from: t.decimal('Leaves.', '5'),
      to: t.decimal('Leaves.', '12'),
      path: t.list(t.hash('A node.'), 'RFC 9162.'),
    }),
  },
)

export type AnchorsAnswer = t.Static<typeof anchorsShape>
export type AnchorAnswer = t.Static<typeof anchorShape>
