/** Reference entries of the log, anchors and the signer. */
import { anchorsShape } from '../../../proof/anchors/shapes.ts'
import {
  liabilitiesFileShape,
  liabilitiesPageShape,
  ownLiabilitiesShape,
} from '../../../proof/liabilities/shapes.ts'
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
      refuses: ['log_damaged'],
    }),
    operation('showSigner', 'GET /v1/signer', 'Who signs', {
      about: 'Learn it once, from somewhere you trust, and check receipts against it.',
      access: 'none',
      answers: [ok('The signer.', signerShape)],
    }),
    operation('listLiabilities', 'GET /liabilities', 'What is owed to all accounts', {
      about:
        'Once a day all balances, read at one moment, become a Merkle sum tree; its signed root ' +
        'and total are a leaf of the log (kind 5).',
      access: 'none',
      query: pageQuery('12'),
      examples: [{ name: 'First page', query: { limit: '20' }, status: 200 }],
      answers: [ok('The statements.', liabilitiesPageShape)],
    }),
    operation('showLiabilities', 'GET /liabilities/:number', 'One statement as a file', {
      about: 'With its place in the log, for `counterfoil verify`.',
      access: 'none',
      path: { number: t.decimal('Its number.', '12') },
      examples: [{ name: 'None of this number', path: { number: '12' }, status: 404 }],
      answers: [ok('The file.', liabilitiesFileShape)],
      refuses: ['not_found', 'log_diverged', 'log_damaged'],
    }),
    operation('proveLiabilities', 'GET /liabilities/proof', 'What is owed to the own account', {
      about:
        'The path from the balance of the account of the key to the signed total, for ' +
        'its owner alone. Leaves are deleted after `keep_days`, the total stays.',
      access: 'usage:read',
      query: { number: t.integer('Of an older statement.', 12, { minimum: 1 }) },
      examples: [{ name: 'None of this number', query: { number: '12' }, status: 404 }],
      answers: [ok('The file.', ownLiabilitiesShape)],
      refuses: ['not_found', 'gone', 'log_diverged', 'log_damaged'],
    }),
  ],
})
