/** Reference entries of the operator. */
import { depositPageShape, depositShape } from '../../../billing/deposits/shapes.ts'
import * as t from '../../../web/http/shape.ts'
import {
  accountDetailShape,
  accountPageShape,
  accountShape,
  anchorAskedShape,
  assignBody,
  auditPageShape,
  findingsShape,
  grantBody,
  ledgerAuditShape,
  marginsShape,
  operatedAnchorsShape,
  operatedModelsShape,
  reasonBody,
  reloadedShape,
} from '../../admin/shapes.ts'
import { done, shown } from '../browser-answers.ts'
import { area, type Entry, ok, operation, pageQuery } from '../entry.ts'

const wallet = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const other = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const accountPath = { id: t.text('Address of an account.', wallet) }
const reason = { reason: 'for the reference' }

/** One look at a part, as JSON and as a fragment. */
const look = (
  id: string,
  path: string,
  title: string,
  { schema, ...rest }: Pick<Entry, 'about' | 'query'> & { schema: t.TSchema },
) =>
  operation(id, `GET /api/portal/admin${path}`, title, {
    ...rest,
    access: 'admin',
    answers: [shown(`${title}.`, schema)],
  })

const looks = [
  look('showFindings', '', 'How the service is', {
    schema: findingsShape,
    about: 'Each part, and what to do about it.',
  }),
  look('listAccounts', '/accounts', 'Accounts', {
    schema: accountPageShape,
    about: 'All accounts, newest first.',
    query: {
      ...pageQuery(other),
      q: t.text('Only those whose address begins so.', '0xf39f'),
    },
  }),
  look('listAllDeposits', '/deposits', 'Deposits of all accounts', {
    schema: depositPageShape,
    about: 'All of them, those that wait, those without an account, or those never credited.',
    query: {
      ...pageQuery(t.sampleIds.dep),
      state: t.oneOf('Default: all.', ['all', 'waiting', 'unassigned', 'ignored']),
    },
  }),
  look('listAuditLog', '/audit-log', 'The audit log', {
    schema: auditPageShape,
    about: 'Who did what, newest first.',
    query: {
      ...pageQuery(t.sampleIds.req),
      account: t.text('Only what was done to an account.', wallet),
    },
  }),
]

const serviceLooks = [
  look('showOperatedModels', '/models', 'Models and upstreams', {
    schema: operatedModelsShape,
    about: 'Prices, and how upstreams do.',
  }),
  look('showMargins', '/margins', 'Margins', {
    schema: marginsShape,
    about: 'Revenue, cost and margin by model, account or day. Only for the operator.',
    query: {
      by: t.oneOf('Default: model.', ['model', 'account', 'day']),
      days: t.oneOf('The last days, in place of `from` and `to`.', ['7', '30', '90']),
      from: t.text('First day (UTC). Default: 29 days ago.', '2026-11-01'),
      to: t.text('Last day (UTC). Default: today.', '2026-11-21'),
    },
  }),
  look('listOperatedAnchors', '/anchors', 'Anchors', {
    schema: operatedAnchorsShape,
    about: 'Heads of the log on their way to the chain.',
    query: pageQuery(t.sampleIds.anc),
  }),
  look('showLedgerAudit', '/ledger', 'The last audit of the ledger', {
    schema: ledgerAuditShape,
    about: 'The newest one that an operator asked for.',
  }),
]

const accountAct = (verb: 'suspend' | 'resume', title: string, about: string) =>
  operation(`${verb}Account`, `POST /api/portal/admin/accounts/:id/${verb}`, title, {
    about,
    access: 'admin',
    path: accountPath,
    body: { schema: reasonBody, form: reasonBody },
    examples: [
      { name: 'An account', path: { id: other }, body: reason, status: 200 },
      { name: 'From a form', path: { id: other }, form: reason, status: 200 },
    ],
    answers: done('The account as it is now.', accountShape),
    refuses: ['conflict'],
  })

const grant = { amount: '5.00', ...reason, once: '1785585600000.0123456789abcdef' }

const actions = [
  operation('showAccount', 'GET /api/portal/admin/accounts/:id', 'One account', {
    about: 'Also for an address without an account: a grant opens one.',
    access: 'admin',
    path: accountPath,
    examples: [{ name: 'An account', path: { id: other }, status: 200 }],
    answers: [ok('The account.', accountDetailShape)],
  }),
  accountAct(
    'suspend',
    'Suspend an account',
    'Stops its runs in flight, its keys and its sessions. One’s own is a 409.',
  ),
  accountAct('resume', 'Resume an account', 'Its keys and its money work as before.'),
  operation('grantAccount', 'POST /api/portal/admin/accounts/:id/grant', 'Grant credit', {
    about: 'Once for each `once`, however often it is sent; with another body it is a 422.',
    access: 'admin',
    path: accountPath,
    body: { schema: grantBody, form: grantBody },
    examples: [
      { name: 'Five dollars', path: { id: other }, body: grant, status: 200 },
      { name: 'From a form', path: { id: other }, form: grant, status: 200 },
    ],
    answers: done('The account as it is now.', accountShape),
    refuses: ['conflict', 'idempotency_mismatch'],
  }),
  operation('assignDeposit', 'POST /api/portal/admin/deposits/:id/assign', 'Assign a deposit', {
    about: 'Gives a deposit to another account than that of its sender: what is still available.',
    access: 'admin',
    path: { id: t.id('dep', 'Id of a deposit.') },
    body: { schema: assignBody, form: assignBody },
    examples: [
      {
        name: 'A deposit',
        path: { id: t.sampleIds.dep },
        body: { account: wallet, ...reason },
        status: 200,
      },
    ],
    answers: done('The deposit as it is now.', depositShape),
    refuses: ['conflict'],
  }),
]

const serviceActions = [
  operation(
    'reloadConfiguration',
    'POST /api/portal/admin/reload',
    'Read the configuration again',
    {
      about: 'As SIGHUP does. A file with problems is refused as a whole, with 200 and `problems`.',
      access: 'admin',
      answers: done('What came of it.', reloadedShape),
      refuses: ['conflict'],
    },
  ),
  operation('anchorNow', 'POST /api/portal/admin/anchors/now', 'Anchor now', {
    about: 'Asks for an anchor without waiting for the next one. Without a chain it is a 409.',
    access: 'admin',
    examples: [{ name: 'Without a chain', status: 409 }],
    answers: done('It is asked for.', anchorAskedShape),
    refuses: ['conflict'],
  }),
  operation('auditLedger', 'POST /api/portal/admin/ledger/audit', 'Audit the ledger now', {
    about: 'Compares all money with its journal, on one unmoving picture.',
    access: 'admin',
    answers: done('The audit.', ledgerAuditShape),
  }),
]

export const operatorArea = area('operator', 'dashboard', 'Operator', {
  about: 'For the wallets in `admins` of the configuration. Every other wallet gets a 404.',
  operations: [...looks, ...actions],
})

export const operatedArea = area('operated', 'dashboard', 'Service of an operator', {
  about: 'Models, margins, anchors and the ledger, for the wallets in `admins`. Others get a 404.',
  operations: [...serviceLooks, ...serviceActions],
})
