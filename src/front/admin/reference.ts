/** Reference entries of the operator's pages. */
import { depositPageShape, depositShape } from '../../billing/deposits/shapes.ts'
import { marginQuery } from '../../billing/margins/api/margin-query.ts'
import * as t from '../../web/http/shape.ts'
import * as r from '../../web/reference/entry.ts'
import { accountQuery, auditQuery, depositQuery } from './api/operator-lists.ts'
import {
  accountDetailShape,
  accountPageShape,
  accountShape,
  anchorAskedShape,
  assignBody,
  auditPageShape,
  confirmProviderBody,
  findingsShape,
  grantBody,
  ledgerAuditShape,
  marginsShape,
  operatedAnchorsShape,
  operatedModelsShape,
  providerAddedShape,
  providerBody,
  providerProposalShape,
  reasonBody,
  reloadedShape,
} from './shapes.ts'

const wallet = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const other = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const reason = { reason: 'for the reference' }
const { get, post } = r.entriesUnder('/api/portal/admin')
const ofAccounts = r.entriesUnder('/api/portal/admin/accounts', {
  path: { id: t.text('Address of an account.', wallet) },
  samples: { id: other },
})
const asItIs = r.done('The account as it is now.', accountShape)

/** One look at a part, as JSON and as a fragment. */
const look = (
  id: string,
  path: string,
  title: string,
  { schema, ...rest }: Pick<r.Entry, 'about' | 'query'> & { schema: t.TSchema },
) => get(id, path, title, { ...rest, examples: [title], answers: r.shown(`${title}.`, schema) })

const act = (verb: 'suspend' | 'resume', title: string, about: string) =>
  ofAccounts.post(`${verb}Account`, `/:id/${verb}`, title, {
    about,
    body: reasonBody,
    examples: r.bothWays('An account', reason),
    answers: asItIs,
    refuses: ['conflict'],
  })

export const operatorArea = r.area('operator', 'dashboard', 'Operator', {
  about: 'For the wallets in `admins` of the configuration. Every other wallet gets a 404.',
  operations: [
    look('showFindings', '', 'How the service is', {
      schema: findingsShape,
      about: 'Each part, and what to do about it.',
    }),
    look('listAccounts', '/accounts', 'Accounts', {
      schema: accountPageShape,
      about: 'All accounts, newest first.',
      query: accountQuery.parameters,
    }),
    look('listAllDeposits', '/deposits', 'Deposits of all accounts', {
      schema: depositPageShape,
      about: 'All of them, those that wait, those without an account, or those never credited.',
      query: depositQuery.parameters,
    }),
    look('listAuditLog', '/audit-log', 'The audit log', {
      schema: auditPageShape,
      about: 'Who did what, newest first.',
      query: auditQuery.parameters,
    }),
    ofAccounts.get('showAccount', '/:id', 'One account', {
      about: 'Also for an address without an account: a grant opens one.',
      examples: ['An account'],
      answers: r.ok('The account.', accountDetailShape),
    }),
    act(
      'suspend',
      'Suspend an account',
      'Stops its runs in flight, its keys and its sessions. One’s own is a 409.',
    ),
    act('resume', 'Resume an account', 'Its keys and its money work as before.'),
    ofAccounts.post('grantAccount', '/:id/grant', 'Grant credit', {
      about: 'Once for each `once`, however often it is sent; with another body it is a 422.',
      body: grantBody,
      examples: r.bothWays('Five dollars', {
        amount: '5.00',
        ...reason,
        once: '1785585600000.0123456789abcdef',
      }),
      answers: asItIs,
      refuses: ['conflict', 'idempotency_mismatch'],
    }),
    post('assignDeposit', '/deposits/:id/assign', 'Assign a deposit', {
      about: 'Gives a deposit to another account than that of its sender: what is still available.',
      path: { id: t.id('dep', 'Id of a deposit.') },
      body: assignBody,
      examples: [{ name: 'A deposit', body: { account: wallet, ...reason } }],
      answers: r.done('The deposit as it is now.', depositShape),
      refuses: ['conflict'],
    }),
  ],
})

export const operatedArea = r.area('operated', 'dashboard', 'Service of an operator', {
  about: 'Models, margins, anchors and the ledger, for the wallets in `admins`. Others get a 404.',
  operations: [
    look('showOperatedModels', '/models', 'Models and upstreams', {
      schema: operatedModelsShape,
      about: 'Prices, and how upstreams do.',
    }),
    look('showMargins', '/margins', 'Margins', {
      schema: marginsShape,
      about: 'Revenue, cost and margin by model, account or day. Only for the operator.',
      query: marginQuery.parameters,
    }),
    look('listOperatedAnchors', '/anchors', 'Anchors', {
      schema: operatedAnchorsShape,
      about: 'Heads of the log on their way to the chain.',
      query: r.pageQuery(t.sampleIds.anc),
    }),
    look('showLedgerAudit', '/ledger', 'The last audit of the ledger', {
      schema: ledgerAuditShape,
      about: 'The newest one that an operator asked for.',
    }),
    post('reloadConfiguration', '/reload', 'Read the configuration again', {
      about: 'As SIGHUP does. A file with problems is refused as a whole, with 200 and `problems`.',
      answers: r.done('What came of it.', reloadedShape),
      refuses: ['conflict'],
    }),
    post('proposeProvider', '/providers', 'Test a provider', {
      about:
        'Asks a provider for its models, which proves the key, and shows the change of the ' +
        'configuration. Changes nothing. A server without a file to change is a 409.',
      body: providerBody,
      examples: [{ name: 'Without a file', status: 409, body: { provider: 'ollama' } }],
      answers: r.ok('The change to confirm.', providerProposalShape),
      refuses: ['conflict', 'not_found'],
    }),
    post('addProvider', '/providers/confirm', 'Add a provider', {
      about: 'Writes what was proposed and reads the configuration again. The older file stays.',
      body: confirmProviderBody,
      examples: [{ name: 'Without a file', status: 409, body: { draft: 'bm90aGluZw' } }],
      answers: r.done('It is there.', providerAddedShape),
      refuses: ['conflict'],
    }),
    post('anchorNow', '/anchors/now', 'Anchor now', {
      about: 'Asks for an anchor without waiting for the next one. Without a chain it is a 409.',
      examples: [{ name: 'Without a chain', status: 409 }],
      answers: r.done('It is asked for.', anchorAskedShape),
      refuses: ['conflict'],
    }),
    post('auditLedger', '/ledger/audit', 'Audit the ledger now', {
      about: 'Compares all money with its journal, on one unmoving picture.',
      answers: r.done('The audit.', ledgerAuditShape),
    }),
  ],
})
