/** Reference entries of balance, deposits and plans. */
import { balanceShape } from '../../../access/keys/shapes.ts'
import { depositPageShape } from '../../../billing/deposits/shapes.ts'
import { plansShape } from '../../../billing/plans/shapes.ts'
import { redeemBody, sampleCode } from '../../../billing/vouchers/api/voucher-body.ts'
import { redemptionShape } from '../../../billing/vouchers/shapes.ts'
import * as t from '../../../web/http/shape.ts'
import { area, ok, operation, pageQuery } from '../entry.ts'

export const moneyArea = area('money', 'programs', 'Balance, deposits, plans', {
  about:
    'What an account has, what came in and what it pays by the month. Changed in the dashboard.',
  operations: [
    operation('showBalance', 'GET /v1/balance', 'The balance', {
      about:
        'Of the account, whose keys all share it. A key below another, or in the branch of a ' +
        'member, sees what it can spend and holds itself.',
      access: 'usage:read',
      answers: [ok('The balance.', balanceShape)],
    }),
    operation('listDeposits', 'GET /v1/deposits', 'List deposits', {
      about: 'What came in for the account, newest first. Needs a key without a parent.',
      access: 'usage:read',
      query: pageQuery(t.sampleIds.dep),
      examples: [{ name: 'First page', query: { limit: '20' }, status: 200 }],
      answers: [ok('A page of deposits.', depositPageShape)],
    }),
    operation('listPlans', 'GET /v1/plans', 'List plans', {
      about: "The plans there are, and the one of the key's account.",
      access: 'any',
      answers: [ok('The plans.', plansShape)],
    }),
    operation('redeemVoucher', 'POST /v1/vouchers/redeem', 'Redeem a voucher', {
      about:
        'Credits the account of the key, once. Of codes that do not exist an account and a ' +
        'network may try a few a minute.',
      access: 'any',
      isIdempotent: true,
      body: { schema: redeemBody },
      examples: [{ name: 'A voucher', body: { code: sampleCode }, status: 200 }],
      answers: [ok('What it credited.', redemptionShape)],
      refuses: ['not_found', 'conflict', 'gone'],
    }),
  ],
})
