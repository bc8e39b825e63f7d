/** Reference entries of deposits. */
import * as t from '../../web/http/shape.ts'
import * as r from '../../web/reference/entry.ts'
import {
  claimBody,
  depositAddressShape,
  depositPageShape,
  ownDepositPageShape,
  payBody,
} from './shapes.ts'

export const depositsEntry = r
  .entriesUnder('/v1')
  .get('listDeposits', '/deposits', 'List deposits', {
    about: 'What came in for the account, newest first. Needs a key without a parent.',
    access: 'usage:read',
    query: r.pageQuery(t.sampleIds.dep),
    answers: r.ok('A page of deposits.', depositPageShape),
  })

const { get, post } = r.entriesUnder('/api/portal/deposits')

export const ownDepositEntries = [
  get('listOwnDeposits', '', 'List deposits of the account', {
    about: 'What came in, newest first, and where to send more.',
    query: r.pageQuery(t.sampleIds.dep),
    answers: r.shown('A page of deposits.', ownDepositPageShape),
  }),
  post('prepareDeposit', '', 'Prepare a deposit', {
    about: 'Where to send it, as a link that wallets open (EIP-681). It changes nothing.',
    body: payBody,
    examples: r.bothWays('Twenty-five dollars', { amount: '25.00' }),
    answers: r.done('Where to send it.', depositAddressShape),
    refuses: ['conflict'],
  }),
  post('claimDeposit', '/claim', 'Claim a deposit of another wallet', {
    about:
      'Moves what another wallet sent to this account, once, when that wallet signed for it. ' +
      'What was spent meanwhile is not moved.',
    body: claimBody,
    examples: [
      {
        name: 'A transfer',
        body: { tx_hash: `0x${'5c'.repeat(32)}`, signature: `0x${'5c'.repeat(65)}` },
      },
    ],
    answers: r.done('The deposits that were moved.', depositPageShape),
    refuses: ['not_found', 'signature_invalid', 'conflict', 'chain_unavailable'],
  }),
]
