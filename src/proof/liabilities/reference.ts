/** Reference entries of liabilities: to all accounts, and to one. */
import * as t from '../../web/http/shape.ts'
import * as r from '../../web/reference/entry.ts'
import { liabilitiesFileShape, liabilitiesPageShape, ownLiabilitiesShape } from './shapes.ts'

const { get } = r.entriesUnder('/liabilities', { path: { number: t.decimal('Its number.', '12') } })

const proof = {
  query: { number: t.integer('Of an older statement.', 12, { minimum: 1 }) },
  examples: [{ name: 'None of this number', query: { number: '12' }, status: 404 }],
  answers: r.ok('The file.', ownLiabilitiesShape),
}

export const liabilitiesEntries = [
  get('listLiabilities', '', 'Liabilities to all accounts', {
    about:
      'Once a day all balances, read at one moment, become a Merkle sum tree; its signed root ' +
      'and total are a leaf of the log (kind 5).',
    query: r.pageQuery('12'),
    answers: r.ok('The statements.', liabilitiesPageShape),
  }),
  get('showLiabilities', '/:number', 'One statement as a file', {
    about: 'With its place in the log, for `counterfoil verify`.',
    examples: [{ name: 'None of this number', status: 404 }],
    answers: r.ok('The file.', liabilitiesFileShape),
    refuses: ['log_diverged', 'log_damaged'],
  }),
  get('proveLiabilities', '/proof', 'Liabilities to the own account', {
    ...proof,
    about:
      'The path from the balance of the account of the key to the signed total, for ' +
      'its owner alone. Leaves are deleted after `keep_days`, the total stays.',
    access: 'usage:read',
    refuses: ['not_found', 'gone', 'log_diverged', 'log_damaged'],
  }),
]

export const ownLiabilitiesEntry = r
  .entriesUnder('/api/portal')
  .get('proveOwnLiabilities', '/liabilities/proof', 'Prove what the service owes the account', {
    ...proof,
    about:
      'The path from the balance of the account to the signed total of all, as a file for ' +
      '`counterfoil verify`.',
    refuses: ['not_found', 'gone', 'log_diverged'],
  })
