import { claimBody, payBody } from '../../../billing/deposits/shapes.ts'
import { emptyBody, subscribeBody } from '../../../billing/plans/shapes.ts'
import { done, shown } from '../browser-answers.ts'
import type { Area, Operation } from '../operation.ts'
import { integer, oneOf, ref, type Schemas, sampleIds, text } from '../schema.ts'
import { shapeOf } from '../shape.ts'
import { pageQuery } from './keys-area.ts'
import { ownMoneySchemas } from './own-money-schemas.ts'
import { usageArea } from './usage-area.ts'

const planPath = { id: text('Id of a plan.', 'builder') }
const builder = { path: { id: 'builder' } }
const subscribed = done('Where the account stands now.', ref('Standing'))

const schemas: Schemas = {
  ...ownMoneySchemas,
  PaymentWish: shapeOf(payBody),
  ClaimWish: shapeOf(claimBody),
  SubscribeWish: shapeOf(subscribeBody),
  NoMembers: shapeOf(emptyBody),
}

const deposits: readonly Operation[] = [
  {
    id: 'listOwnDeposits',
    route: 'GET /api/portal/deposits',
    title: 'List deposits of the account',
    about: 'What came in, newest first, and where to send more.',
    access: 'session',
    query: { ...pageQuery, after: text('`last_id` of the page before.', sampleIds.dep) },
    examples: [{ name: 'First page', query: { limit: '20' }, status: 200 }],
    answers: [shown('A page of deposits.', ref('OwnDepositPage'))],
  },
  {
    id: 'prepareDeposit',
    route: 'POST /api/portal/deposits',
    title: 'Prepare a deposit',
    about: 'Where to send it, as a link that wallets open (EIP-681). It changes nothing.',
    access: 'session',
    body: { schema: ref('PaymentWish'), form: ref('PaymentWish') },
    examples: [
      { name: 'Twenty-five dollars', body: { amount: '25.00' }, status: 200 },
      { name: 'From a form', form: { amount: '25.00' }, status: 200 },
    ],
    answers: done('Where to send it.', ref('DepositAddress')),
    refuses: ['conflict'],
  },
  {
    id: 'claimDeposit',
    route: 'POST /api/portal/deposits/claim',
    title: 'Claim a deposit of another wallet',
    about:
      'Moves what another wallet sent to this account, once, when that wallet signed for it. ' +
      'What was spent meanwhile is not moved.',
    access: 'session',
    body: { schema: ref('ClaimWish'), form: ref('ClaimWish') },
    examples: [
      {
        name: 'A transfer',
        body: { tx_hash: `0x${'5c'.repeat(32)}`, signature: `0x${'5c'.repeat(65)}` },
        status: 200,
      },
    ],
    answers: done('The deposits that were moved.', ref('DepositPage')),
    refuses: ['not_found', 'signature_invalid', 'conflict', 'chain_unavailable'],
  },
]

const plans: readonly Operation[] = [
  {
    id: 'listOwnPlans',
    route: 'GET /api/portal/plans',
    title: 'Plans, and the one of the account',
    about: 'As `GET /v1/plans`.',
    access: 'session',
    examples: [{ name: 'All plans', status: 200 }],
    answers: [shown('The plans.', ref('Plans'))],
  },
  {
    id: 'previewPlan',
    route: 'POST /api/portal/plans/:id/preview',
    title: 'What a change of plan costs',
    about: 'Nothing is charged. `quoted_at` goes back with the subscribe.',
    access: 'session',
    path: planPath,
    body: { schema: ref('NoMembers'), form: ref('NoMembers'), isOptional: true },
    examples: [{ ...builder, name: 'A larger plan', status: 200 }],
    answers: done('What it would cost.', ref('PlanPreview')),
    refuses: ['not_found'],
  },
  {
    id: 'subscribePlan',
    route: 'POST /api/portal/plans/:id/subscribe',
    title: 'Change the plan',
    about:
      'A dearer plan starts now and is paid from the balance; a cheaper one starts with the next ' +
      'month. Asked for twice, it is paid once.',
    access: 'session',
    path: planPath,
    body: { schema: ref('SubscribeWish'), form: ref('SubscribeWish'), isOptional: true },
    isIdempotent: true,
    examples: [
      { ...builder, name: 'A larger plan', body: {}, status: 200 },
      { ...builder, name: 'From a form', form: {}, status: 200 },
    ],
    answers: subscribed,
    refuses: ['not_found', 'conflict', 'insufficient_balance'],
  },
  {
    id: 'cancelPlan',
    route: 'POST /api/portal/plans/cancel',
    title: 'Cancel the plan',
    about: 'It ends with its month. On the free plan it is a 409.',
    access: 'session',
    body: { schema: ref('NoMembers'), form: ref('NoMembers'), isOptional: true },
    examples: [{ name: 'The free plan', status: 409 }],
    answers: subscribed,
    refuses: ['conflict'],
  },
  {
    id: 'resumePlan',
    route: 'POST /api/portal/plans/resume',
    title: 'Keep the plan',
    about: 'Takes a cancellation, or a change for later, back.',
    access: 'session',
    body: { schema: ref('NoMembers'), form: ref('NoMembers'), isOptional: true },
    examples: [{ name: 'The free plan', status: 409 }],
    answers: subscribed,
    refuses: ['conflict'],
  },
]

const statement: readonly Operation[] = [
  {
    id: 'showStatement',
    route: 'GET /api/portal/statement',
    title: 'The statement',
    about: 'Everything that moved the balance, newest first; all amounts add up to it.',
    access: 'session',
    query: {
      ...pageQuery,
      after: text('`last_id` of the page before.', '1785585600000-1'),
      by: oneOf('Default: movement.', ['movement', 'day']),
    },
    examples: [
      { name: 'Movements', status: 200 },
      { name: 'Days', query: { by: 'day' }, status: 200 },
    ],
    answers: [
      shown('Movements, or days.', { anyOf: [ref('MovementPage'), ref('StatementDayPage')] }),
    ],
  },
  {
    id: 'exportStatement',
    route: 'GET /api/portal/statement/export',
    title: 'The statement as a file',
    about: 'Oldest first, up to now. At most 4 exports of an account at once.',
    access: 'session',
    examples: [{ name: 'For a spreadsheet', status: 200 }],
    answers: [
      {
        status: 200,
        about: 'The file.',
        headers: { 'X-As-Of': integer('Movements in it.', 2, { minimum: 0 }) },
        content: {
          'text/csv': {
            schema: text('RFC 4180, UTF-8.', ''),
            sample: 'time,id,kind,ref,amount_usd,amount_nusd,balance_usd,balance_nusd\r\n',
          },
        },
      },
    ],
    refuses: ['concurrency_limited'],
  },
]

/** The two routes of `/v1/usage`, of all keys of an account. */
const usage: readonly Operation[] = usageArea.operations.map((operation) => ({
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
          days: oneOf('The last days, in place of `from` and `to`.', ['7', '30', '90']),
        },
        answers: [shown('The sums.', ref('Usage'))],
      }
    : {
        id: 'exportOwnUsage',
        route: 'GET /api/portal/usage/export' as const,
        title: 'Usage of the account as a file',
        about: 'As `GET /v1/usage/export`, over all its keys.',
      }),
}))

export const ownMoneyArea: Area = {
  id: 'own-money',
  group: 'dashboard',
  title: 'Money of an account',
  about: 'Deposits, plan, statement and usage of the signed-in account.',
  operations: [...deposits, ...plans, ...statement, ...usage],
  schemas,
}
