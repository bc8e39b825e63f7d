/** Reference entries of the operator API. */
import { keyShape, keyWithSecretShape } from '../../access/keys/shapes.ts'
import { depositPageShape, depositShape } from '../../billing/deposits/shapes.ts'
import { marginQuery } from '../../billing/margins/api/margin-query.ts'
import { usageQuery } from '../../billing/usage/api/usage-query.ts'
import { usageShape } from '../../billing/usage/shapes.ts'
import * as t from '../../web/http/shape.ts'
import * as r from '../../web/reference/entry.ts'
import { accountQuery, depositQuery } from '../admin/api/operator-lists.ts'
import {
  accountPageShape,
  accountShape,
  marginsShape,
  operatedModelsShape,
} from '../admin/shapes.ts'
import {
  creditBody,
  creditShape,
  foundAccountShape,
  giveBody,
  healthShape,
  operatedWallet,
  operatorKeysShape,
  operatorMintBody,
  refundBody,
  refundShape,
  whyBody,
} from './shapes.ts'

const account = operatedWallet
const whose = { account: t.text('Whose. Required.', account) }
const reason = 'invoice 17'
const { get, post } = r.entriesUnder('/operator/v1', {
  path: { address: t.text('Address of an account.', account) },
})
const ofKeys = r.entriesUnder('/operator/v1/keys', { path: { id: t.id('key', 'Id of a key.') } })

const act = (verb: 'suspend' | 'resume', title: string, about: string) =>
  post(`${verb}OperatedAccount`, `/accounts/:address/${verb}`, title, {
    about,
    access: 'operator accounts:write',
    body: { schema: whyBody, isOptional: true },
    examples: [{ name: 'An account', body: { reason: 'abuse' } }],
    answers: r.ok('The account as it is now.', accountShape),
  })

const accounts = [
  get('listOperatedAccounts', '/accounts', 'List accounts', {
    about: 'In the order of their addresses; `q` is how they begin.',
    access: 'operator accounts:read',
    query: accountQuery.parameters,
    answers: r.ok('A page of accounts.', accountPageShape),
    refuses: ['not_found'],
  }),
  get('showOperatedAccount', '/accounts/:address', 'Find an account', {
    about: 'Its balance, its plan and whether it may act.',
    access: 'operator accounts:read',
    answers: r.ok('The account.', foundAccountShape),
  }),
  act(
    'suspend',
    'Suspend an account by program',
    'Stops its runs in flight, its keys and its sessions; its money stays.',
  ),
  act('resume', 'Resume an account by program', 'Its keys and its money work as before.'),
  post('grantOperatedCredit', '/grants', 'Grant credit by program', {
    about:
      'Credits an account, and opens it if there is none. With an `Idempotency-Key` it grants ' +
      'once, however often it is sent: use the id of the payment.',
    access: 'operator grants:write',
    isIdempotent: true,
    body: creditBody,
    examples: [
      { name: 'Twenty-five dollars', body: { account, amount_nusd: 25_000_000_000, reason } },
    ],
    answers: r.ok('The grant.', creditShape),
    refuses: ['conflict'],
  }),
  post('refundOperated', '/refunds', 'Refund a run or a deposit', {
    about:
      'Of a run: gives its cost back, or part of it. Of a final deposit: takes from the balance ' +
      'what you pay back on the chain. All refunds of one `ref` together never exceed it. The ' +
      'cap of the key and the receipt stay unchanged.',
    access: 'operator grants:write',
    isIdempotent: true,
    body: refundBody,
    examples: [
      {
        name: 'A part of a run',
        body: { account, ref: t.sampleIds.run, amount_nusd: 100, reason },
      },
    ],
    answers: r.ok('The refund.', refundShape),
    refuses: ['not_found', 'conflict'],
  }),
]

const keys = [
  ofKeys.get('listOperatedKeys', '', 'List keys of an account', {
    about: 'Newest first, in every state.',
    access: 'operator keys:read',
    query: { ...whose, ...r.pageQuery(t.sampleIds.key) },
    examples: [{ name: 'First page', query: { account } }],
    answers: r.ok('A page of keys.', operatorKeysShape),
  }),
  ofKeys.get('showOperatedKey', '/:id', 'Show any key', {
    about: 'A key of any account, without its secret.',
    access: 'operator keys:read',
    answers: r.ok('The key.', keyShape),
  }),
  ofKeys.post('mintOperatedKey', '', 'Make a key for an account', {
    about:
      'Its secret is in this answer alone. With an `Idempotency-Key` a repeated call makes no ' +
      'second key, and has no secret.',
    access: 'operator keys:write',
    isIdempotent: true,
    body: operatorMintBody,
    examples: [
      { name: 'A key', body: { account, name: 'first', cap: { limit_nusd: 500_000_000 } } },
    ],
    answers: r.made('The key.', keyWithSecretShape),
    refuses: ['conflict'],
  }),
  ofKeys.post('revokeOperatedKey', '/:id/revoke', 'Revoke any key', {
    about: 'With all keys below it, for good. Revoking twice changes nothing.',
    access: 'operator keys:write',
    answers: r.ok('The key.', keyShape),
  }),
]

export const operatorApiArea = r.area('operator-api', 'programs', 'Operator API', {
  about:
    'For programs of the operator, with a token of `counterfoil admin token create`. Account ' +
    'keys do not work here, and these tokens nowhere else. Nothing here reads a secret, a ' +
    'prompt or an answer.',
  operations: [...accounts, ...keys],
})

const figures = [
  get('listOperatedDeposits', '/deposits', 'List deposits of all', {
    about: 'All of them, those that wait, those without an account, or those never credited.',
    access: 'operator deposits:read',
    query: depositQuery.parameters,
    examples: [{ name: 'Unassigned', query: { state: 'unassigned' } }],
    answers: r.ok('A page of deposits.', depositPageShape),
  }),
  post('giveDeposit', '/deposits/:id/assign', 'Assign a deposit by program', {
    about: 'Gives a deposit to another account than that of its sender: what is still available.',
    access: 'operator deposits:write',
    path: { id: t.id('dep', 'Id of a deposit.') },
    body: giveBody,
    examples: [{ name: 'One that is not there', body: { account, reason }, status: 404 }],
    answers: r.ok('The deposit as it is now.', depositShape),
    refuses: ['conflict'],
  }),
  get('showOperatedUsage', '/usage', 'Usage of an account', {
    about: 'Sums of its runs by day, key, model or tag; no text of a run.',
    access: 'operator usage:read',
    query: { ...whose, ...usageQuery.parameters },
    examples: [{ name: 'By model', query: { account, group_by: 'model' } }],
    answers: r.ok('The sums.', usageShape),
  }),
  get('showOperatedMargins', '/margins', 'Margins by program', {
    about: 'Revenue, cost and margin by model, account or day.',
    access: 'operator usage:read',
    query: marginQuery.parameters,
    examples: [{ name: 'By account', query: { by: 'account' } }],
    answers: r.ok('Margins.', marginsShape),
  }),
  get('listOperatedModels', '/models', 'Models and prices by program', {
    about: 'What models cost, what is sold below cost, and how upstreams do.',
    access: 'operator models:read',
    answers: r.ok('Models.', operatedModelsShape),
  }),
  get('showOperatedHealth', '/health', 'How the service is, by program', {
    about: 'Each part and what to do about it, with what `GET /v1/status` says.',
    access: 'operator health:read',
    answers: r.ok('Each part.', healthShape),
  }),
]

export const operatorFiguresArea = r.area('operator-figures', 'programs', 'Operator API: figures', {
  about: 'Deposits, usage, margins, models and health, with a token of the operator API.',
  operations: figures,
})
