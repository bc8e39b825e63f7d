/** Reference entries of the log, anchors and the signer. */
import { anchorsShape } from '../../../proof/anchors/shapes.ts'
import { signerShape } from '../../../proof/signer/shapes.ts'
import * as t from '../../../web/http/shape.ts'
import { area, ok, operation, pageQuery } from '../entry.ts'

export const logArea = area('log', 'programs', 'Log, anchors, signer', {
  about:
    'Every receipt is a leaf of one append-only Merkle tree (RFC 9162, SHA-256). Its heads are ' +
    'signed, and go to a contract on chain 4663 that only takes what continues the log.',
  operations: [
    operation('listAnchors', 'GET /v1/anchors', 'The log and its anchors', {
      about:
        'Keep a checkpoint, ask later with `from` its size: `consistency` leads from it to the ' +
        'latest one, or to `to`. Nothing between was dropped, changed or reordered.',
      access: 'none',
      query: {
        ...pageQuery(t.sampleIds.anc),
        from: t.integer('A size of the log.', 1, { minimum: 1 }),
        to: t.integer('A larger size.', 2, { minimum: 1 }),
      },
      examples: [
        { name: 'The head', status: 200 },
        { name: 'From one size to another', query: { from: '1', to: '2' }, status: 200 },
      ],
      answers: [ok('The log.', anchorsShape)],
    }),
    operation('showSigner', 'GET /v1/signer', 'Who signs', {
      about: 'Learn it once, from somewhere you trust, and check receipts against it.',
      access: 'none',
      answers: [ok('The signer.', signerShape)],
    }),
  ],
})
