/** The shape of the answer of `GET /v1/signer`. */

import * as t from '../../web/http/shape.ts'
import { registryLogId } from '../anchors/shapes.ts'

const noteKey = t.text(
  'Ed25519 key of the notes of the log, as name+id+base64.',
  'https://gw.example+7c1f3a9e+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW',
)

const signerRange = t.object('A key, for a range of the log.', {
  address: t.address('Of the key.'),
  public_key: t.text('Uncompressed, as hex.', '0x04…'),
  from_index: t.integer('First place it signs for.', 0),
  until_index: t.orNull(t.integer('First place it does not sign for any more.', 100)),
  note_key: t.usuallyNull(noteKey),
  rotation: t.usuallyNull(t.anything('The statement that ended it, signed by it.', {})),
})

const types = t.map(
  t.list(t.object('', { name: t.text('', 'id'), type: t.text('', 'string') }), ''),
  'EIP-712 types.',
  { Line: [{ name: 'meter', type: 'string' }] },
)

export const signerShape = t.answer(
  'Signer',
  'Whose signature a receipt must carry at which place of the log, and over what.',
  {
    object: t.only('signer'),
    address: t.address('Who signs now.'),
    public_key: t.text('Uncompressed, as hex.', '0x04…'),
    scheme: t.only('eip712-secp256k1'),
    issuer: t.text('Origin that receipts name.', 'https://gw.example'),
    domain: t.anything('EIP-712 domain.', {
      name: 'Counterfoil Receipt',
      version: '1',
      chainId: 4663,
    }),
    types,
    primary_type: t.only('Receipt'),
    other_types: types,
    from_index: t.integer('First place of the log that it signs for.', 0),
    previous: t.list(signerRange, 'Who signed before.'),
    log: t.object('The log.', {
      id: t.hash('Keccak-256 of its origin.'),
      origin: t.text('Its origin.', 'https://gw.example'),
      size: t.integer('Leaves.', 12),
      prefix: t.text('Where its checkpoint and tiles are.', '/log'),
    }),
    note_key: noteKey,
    former_logs: t.list(
      t.object('A log that was abandoned; its receipts stand.', {
        id: t.hash('Keccak-256 of its origin.'),
        origin: t.text('Its origin.', 'https://gw.example'),
        size: t.integer('Leaves.', 12),
        prefix: t.text('Where its checkpoint and tiles are.', '/log'),
        note_key: noteKey,
        opened_at: t.time('When it was opened.'),
        reason_of_opening: t.usuallyNull(t.text('Why.', 'restored from a backup')),
        signers: t.list(signerRange, 'Who signed in it.'),
      }),
      'Usually none.',
    ),
    registry: t.usuallyNull(t.address('The contract that heads of the log go to.')),
    registry_log_id: t.usuallyNull(registryLogId),
    treasury: t.usuallyNull(t.address('Where deposits are sent.')),
    token: t.address('The stablecoin.'),
    max_anchor_delay_s: t.integer('The longest that a receipt waits for its anchor. Seconds.', 600),
  },
)

export type SignerAnswer = t.Static<typeof signerShape>
