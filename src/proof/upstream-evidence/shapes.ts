/** The file of what an upstream signed of a run. */
import * as t from '../../web/http/shape.ts'
import { checkpointShape } from '../log/shapes.ts'

export const evidenceFileShape = t.answer(
  'UpstreamEvidenceFile',
  'What the upstream of a run signed, for `counterfoil verify --evidence`.',
  {
    type: t.only('counterfoil.upstream_evidence'),
    version: t.only('1'),
    statement: t.object(
      'Its EIP-712 digest is the leaf (`other_types` of `GET /v1/signer`). Integers are text.',
      {
        issuer: t.text('Origin of the log that it is a leaf of.', 'https://gw.example'),
        receipt_id: t.id('rcpt', 'The receipt.'),
        receipt_digest: t.hash('Its digest.'),
        upstream: t.text('The server that answered.', 'near'),
        model: t.text('The model by its name there.', 'deepseek-ai/DeepSeek-V3.1'),
        scheme: t.oneOf('How it signs.', ['near-ai']),
        key: t.text('The key that signed.', '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'),
        request_sha256: t.hash('Of the body that went to it.'),
        answer_sha256: t.hash('Of the body that came back; of a stream, all of its bytes.'),
        document_sha256: t.hash('Of the document.'),
        checked_at: t.decimal('Milliseconds: when it was checked.', '1785585600000'),
        salt: t.hash('Makes the digest unguessable.'),
      },
    ),
    document: t.text('As the upstream served it, in one spelling.', '{"signature":"0x…"}'),
    log: t.object('Where it is in the log.', {
      index: t.decimal('Of the leaf.', '3100'),
      path: t.list(t.hash(''), 'From the leaf to the root of the checkpoint.'),
      checkpoint: checkpointShape,
    }),
  },
)
