/** Reference entries of the money of an account. */
import {
  claimBody,
  depositAddressShape,
  depositPageShape,
  ownDepositPageShape,
  payBody,
} from '../../../billing/deposits/shapes.ts'
import {
  emptyBody,
  planPreviewShape,
  plansShape,
  standingShape,
  subscribeBody,
} from '../../../billing/plans/shapes.ts'
import { movementPageShape, statementDayPageShape } from '../../../billing/statement/shapes.ts'
import { usageShape } from '../../../billing/usage/shapes.ts'
import { redeemBody, sampleCode } from '../../../billing/vouchers/api/voucher-body.ts'
import { redemptionShape } from '../../../billing/vouchers/shapes.ts'
import { ownLiabilitiesShape } from '../../../proof/liabilities/shapes.ts'
import * as t from '../../../web/http/shape.ts'
import { done, shown } from '../browser-answers.ts'
import { area, type Entry, media, ok, operation, pageQuery } from '../entry.ts'
import { usageArea } from './usage-area.ts'

const planPath = { id: t.text('Id of a plan.', 'builder') }
const builder = { path: { id: 'builder' } }
const subscribed = done('Where the account stands now.', standingShape)

const owed = [
  operation(
    'proveOwnLiabilities',
    'GET /api/portal/liabilities/proof',
    'Prove what the service owes the account',
    {
      about:
        'The path from the balance of the account to the signed total of all, as a file for ' +
        '`counterfoil verify`.',
      access: 'session',
      query: { number: t.integer('Of an older statement.', 12, { minimum: 1 }) },
      examples: [{ name: 'None of this number', query: { number: '12' }, status: 404 }],
      answers: [ok('The file.', ownLiabilitiesShape)],
      refuses: ['not_found', 'gone', 'log_diverged'],
    },
  ),
]

const deposits = [
  operation('listOwnDeposits', 'GET /api/portal/deposits', 'List deposits of the account', {
    about: 'What came in, newest first, and where to send more.',
    access: 'session',
    query: pageQuery(t.sampleIds.dep),
    examples: [{ name: 'First page', query: { limit: '20' }, status: 200 }],
    answers: [shown('A page of deposits.', ownDepositPageShape)],
  }),
  operation('prepareDeposit', 'POST /api/portal/deposits', 'Prepare a deposit', {
    about: 'Where to send it, as a link that wallets open (EIP-681). It changes nothing.',
    access: 'session',
    body: { schema: payBody, form: payBody },
    examples: [
      { name: 'Twenty-five dollars', body: { amount: '25.00' }, status: 200 },
      { name: 'From a form', form: { amount: '25.00' }, status: 200 },
    ],
    answers: done('Where to send it.', depositAddressShape),
    refuses: ['conflict'],
  }),
  operation(
    'claimDeposit',
    'POST /api/portal/deposits/claim',
    'Claim a deposit of another wallet',
    {
      about:
        'Moves what another wallet sent to this account, once, when that wallet signed for it. ' +
        'What was spent meanwhile is not moved.',
      access: 'session',
      body: { schema: claimBody, form: claimBody },
      examples: [
        {
          name: 'A transfer',
          body: { tx_hash: `0x${'5c'.repeat(32)}`, signature: `0x${'5c'.repeat(65)}` },
          status: 200,
        },
      ],
      answers: done('The deposits that were moved.', depositPageShape),
      refuses: ['not_found', 'signature_invalid', 'conflict', 'chain_unavailable'],
    },
  ),
]

const vouchers = [
  operation('redeemOwnVoucher', 'POST /api/portal/vouchers/redeem', 'Redeem a voucher by hand', {
    about: 'Credits the account that is signed in, once.',
    access: 'session',
    body: { schema: redeemBody, form: redeemBody },
    examples: [
      { name: 'A voucher', body: { code: sampleCode }, status: 200 },
      { name: 'From a form', form: { code: sampleCode }, status: 200 },
    ],
    answers: done('What it credited.', redemptionShape),
    refuses: ['not_found', 'conflict', 'gone', 'rate_limited'],
  }),
]

const plans = [
  operation('listOwnPlans', 'GET /api/portal/plans', 'Plans, and the one of the account', {
    about: 'As `GET /v1/plans`.',
    access: 'session',
    answers: [shown('The plans.', plansShape)],
  }),
  operation('previewPlan', 'POST /api/portal/plans/:id/preview', 'What a change of plan costs', {
    about: 'Nothing is charged. `quoted_at` goes back with the subscribe.',
    access: 'session',
    path: planPath,
    body: { schema: emptyBody, form: emptyBody, isOptional: true },
    examples: [{ ...builder, name: 'A larger plan', status: 200 }],
    answers: done('What it would cost.', planPreviewShape),
    refuses: ['not_found'],
  }),
  operation('subscribePlan', 'POST /api/portal/plans/:id/subscribe', 'Change the plan', {
    about:
      'A dearer plan starts now and is paid from the balance; a cheaper one starts with the next ' +
      'month. Asked for twice, it is paid once.',
    access: 'session',
    path: planPath,
    body: { schema: subscribeBody, form: subscribeBody, isOptional: true },
    isIdempotent: true,
    examples: [
      { ...builder, name: 'A larger plan', body: {}, status: 200 },
      { ...builder, name: 'From a form', form: {}, status: 200 },
    ],
    answers: subscribed,
    refuses: ['not_found', 'conflict', 'insufficient_balance'],
  }),
  operation('cancelPlan', 'POST /api/portal/plans/cancel', 'Cancel the plan', {
    about: 'It ends with its month. On the free plan it is a 409.',
    access: 'session',
    body: { schema: emptyBody, form: emptyBody, isOptional: true },
    examples: [{ name: 'The free plan', status: 409 }],
    answers: subscribed,
    refuses: ['conflict'],
  }),
  operation('resumePlan', 'POST /api/portal/plans/resume', 'Keep the plan', {
    about: 'Takes a cancellation, or a change for later, back.',
    access: 'session',
    body: { schema: emptyBody, form: emptyBody, isOptional: true },
    examples: [{ name: 'The free plan', status: 409 }],
    answers: subscribed,
    refuses: ['conflict'],
  }),
]

const statement = [
  operation('showStatement', 'GET /api/portal/statement', 'The statement', {
    about: 'Everything that moved the balance, newest first; all amounts add up to it.',
    access: 'session',
    query: {
      ...pageQuery('1785585600000-1'),
      by: t.oneOf('Default: movement.', ['movement', 'day']),
    },
    examples: [
      { name: 'Movements', status: 200 },
      { name: 'Days', query: { by: 'day' }, status: 200 },
    ],
    answers: [
      shown('Movements, or days.', t.either('', [movementPageShape, statementDayPageShape])),
    ],
  }),
  operation('exportStatement', 'GET /api/portal/statement/export', 'The statement as a file', {
    about: 'Oldest first, up to now. At most 4 exports of an account at once.',
    access: 'session',
    answers: [
      {
        status: 200,
        about: 'The file.',
        headers: { 'X-As-Of': t.integer('Movements in it.', 2, { minimum: 0 }) },
        content: media(
          'text/csv',
          'RFC 4180, UTF-8.',
          'time,id,kind,ref,amount_usd,amount_nusd,balance_usd,balance_nusd\r\n',
        ),
      },
    ],
    refuses: ['concurrency_limited'],
  }),
]

/** The routes of `/v1/usage`, of all keys of an account. */
const usage: readonly Entry[] = usageArea.operations.map((operation) => ({
  ...operation,
  access: 'session' as const,
  ...(operation.id === 'showUsage'
    ? {
        id: 'showOwnUsage',
        route: 'GET /api/portal/usage' as const,
        title: 'Sums of usage of the account',
        about: 'As `GET /v1/usage`, over all its keys.',
        query: {
          ...operation.query,
          days: t.oneOf('The last days, in place of `from` and `to`.', ['7', '30', '90']),
        },
        answers: [shown('The sums.', usageShape)],
      }
    : operation.id === 'exportManifest'
      ? {
          id: 'exportOwnManifest',
          route: 'GET /api/portal/usage/export/manifest' as const,
          title: 'The manifest of an export of the account',
          about: 'As `GET /v1/usage/export/manifest`, over all its keys.',
        }
      : {
          id: 'exportOwnUsage',
          route: 'GET /api/portal/usage/export' as const,
          title: 'Usage of the account as a file',
          about: 'As `GET /v1/usage/export`, over all its keys.',
        }),
}))

export const ownMoneyArea = area('own-money', 'dashboard', 'Money of an account', {
  about: 'Deposits, statement, proofs and usage of the signed-in account.',
  operations: [...deposits, ...vouchers, ...statement, ...owed, ...usage],
})

export const ownPlansArea = area('own-plans', 'dashboard', 'Plan of an account', {
  about: 'The plan of the signed-in account, what a change costs, and the change.',
  operations: plans,
})
