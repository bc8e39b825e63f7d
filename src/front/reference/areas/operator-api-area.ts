/** Reference entries of the operator API about accounts, their money and their keys. */
import { keyShape, keyWithSecretShape } from '../../../access/keys/shapes.ts'
import * as t from '../../../web/http/shape.ts'
import { accountPageShape, accountShape } from '../../admin/shapes.ts'
import {
  creditBody,
  creditShape,
  foundAccountShape,
  operatorKeysShape,
  operatorMintBody,
  refundBody,
  refundShape,
  operatedWallet as wallet,
  whyBody,
} from '../../operator/shapes.ts'
import { area, json, ok, operation, pageQuery } from '../entry.ts'

const accountPath = { address: t.text('Address of an account.', wallet) }
const accountQuery = { account: t.text('Whose. Required.', wallet) }
const keyPath = { id: t.id('key', 'Id of a key.') }
const reason = 'invoice 17'

const accountAct = (verb: 'suspend' | 'resume', title: string, about: string) =>
  operation(`${verb}OperatedAccount`, `POST /operator/v1/accounts/:address/${verb}`, title, {
    about,
    access: 'operator accounts:write',
    path: accountPath,
    body: { schema: whyBody, isOptional: true },
    examples: [
      { name: 'An account', path: { address: wallet }, body: { reason: 'abuse' }, status: 200 },
    ],
    answers: [ok('The account as it is now.', accountShape)],
    refuses: ['not_found'],
  })

const accounts = [
  operation('listOperatedAccounts', 'GET /operator/v1/accounts', 'List accounts', {
    about: 'In the order of their addresses; `q` is how they begin.',
    access: 'operator accounts:read',
    query: { ...pageQuery(wallet), q: t.text('The first digits of an address.', '0x3c44') },
    examples: [{ name: 'First page', query: { limit: '20' }, status: 200 }],
    answers: [ok('A page of accounts.', accountPageShape)],
    refuses: ['not_found'],
  }),
  operation('showOperatedAccount', 'GET /operator/v1/accounts/:address', 'Find an account', {
    about: 'Its balance, its plan and whether it may act.',
    access: 'operator accounts:read',
    path: accountPath,
    answers: [ok('The account.', foundAccountShape)],
    refuses: ['not_found'],
  }),
  accountAct(
    'suspend',
    'Suspend an account by program',
    'Stops its runs in flight, its keys and its sessions; its money stays.',
  ),
  accountAct('resume', 'Resume an account by program', 'Its keys and its money work as before.'),
  operation('grantOperatedCredit', 'POST /operator/v1/grants', 'Grant credit by program', {
    about:
      'Credits an account, and opens it if there is none. With an `Idempotency-Key` it grants ' +
      'once, however often it is sent: use the id of the payment.',
    access: 'operator grants:write',
    isIdempotent: true,
    body: { schema: creditBody },
    examples: [
      {
        name: 'Twenty-five dollars',
        body: { account: wallet, amount_nusd: 25_000_000_000, reason },
        status: 200,
      },
    ],
    answers: [ok('The grant.', creditShape)],
    refuses: ['conflict'],
  }),
  operation('refundOperated', 'POST /operator/v1/refunds', 'Refund a run or a deposit', {
    about:
      'Of a run: gives its cost back, or part of it. Of a final deposit: takes from the balance ' +
      'what you pay back on the chain. All refunds of one `ref` together never exceed it. The ' +
      'cap of the key and the receipt stay unchanged.',
    access: 'operator grants:write',
    isIdempotent: true,
    body: { schema: refundBody },
    examples: [
      {
        name: 'A part of a run',
        body: { account: wallet, ref: t.sampleIds.run, amount_nusd: 100, reason },
        status: 200,
      },
    ],
    answers: [ok('The refund.', refundShape)],
    refuses: ['not_found', 'conflict'],
  }),
]

const keys = [
  operation('listOperatedKeys', 'GET /operator/v1/keys', 'List keys of an account', {
    about: 'Newest first, in every state.',
    access: 'operator keys:read',
    query: { ...accountQuery, ...pageQuery(t.sampleIds.key) },
    examples: [{ name: 'First page', query: { account: wallet }, status: 200 }],
    answers: [ok('A page of keys.', operatorKeysShape)],
  }),
  operation('showOperatedKey', 'GET /operator/v1/keys/:id', 'Show any key', {
    about: 'A key of any account, without its secret.',
    access: 'operator keys:read',
    path: keyPath,
    answers: [ok('The key.', keyShape)],
    refuses: ['not_found'],
  }),
  operation('mintOperatedKey', 'POST /operator/v1/keys', 'Make a key for an account', {
    about:
      'Its secret is in this answer alone. With an `Idempotency-Key` a repeated call makes no ' +
      'second key, and has no secret.',
    access: 'operator keys:write',
    isIdempotent: true,
    body: { schema: operatorMintBody },
    examples: [
      {
        name: 'A key',
        body: { account: wallet, name: 'first', cap: { limit_nusd: 500_000_000 } },
        status: 201,
      },
    ],
    answers: [{ status: 201, about: 'The key.', content: json(keyWithSecretShape) }],
    refuses: ['conflict'],
  }),
  operation('revokeOperatedKey', 'POST /operator/v1/keys/:id/revoke', 'Revoke any key', {
    about: 'With all keys below it, for good. Revoking twice changes nothing.',
    access: 'operator keys:write',
    path: keyPath,
    answers: [ok('The key.', keyShape)],
    refuses: ['not_found'],
  }),
]

export const operatorApiArea = area('operator-api', 'programs', 'Operator API', {
  about:
    'For programs of the operator, with a token of `counterfoil admin token create`. Account ' +
    'keys do not work here, and these tokens nowhere else. Nothing here reads a secret, a ' +
    'prompt or an answer.',
  operations: [...accounts, ...keys],
})
