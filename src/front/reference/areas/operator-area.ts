import { done, shown } from '../browser-answers.ts'
import { type Area, type Operation, ok } from '../operation.ts'
import { id, oneOf, ref, sampleIds, text } from '../schema.ts'
import { pageQuery } from './keys-area.ts'
import { operatorSchemas } from './operator-schemas.ts'

const wallet = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const other = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const accountPath = { id: text('Address of an account.', wallet) }
const reason = { reason: 'for the reference' }

/** One look at a part, as JSON and as a fragment. */
const look = (
  id: string,
  path: string,
  schema: string,
  { title, about, query }: Pick<Operation, 'title' | 'about' | 'query'>,
): Operation => ({
  id,
  route: `GET /api/portal/admin${path}` as Operation['route'],
  title,
  about,
  access: 'admin',
  ...(query ? { query } : {}),
  examples: [{ name: title, status: 200 }],
  answers: [shown(`${title}.`, ref(schema))],
})

const looks: readonly Operation[] = [
  look('showFindings', '', 'Findings', {
    title: 'How the service is',
    about: 'Each part, and what to do about it.',
  }),
  look('listAccounts', '/accounts', 'AccountPage', {
    title: 'Accounts',
    about: 'All accounts, newest first.',
    query: {
      ...pageQuery,
      after: text('`last_id` of the page before.', other),
      q: text('Only those whose address begins so.', '0xf39f'),
    },
  }),
  look('showOperatedModels', '/models', 'OperatedModels', {
    title: 'Models and upstreams',
    about: 'Prices, and how upstreams do.',
  }),
  look('listOperatedAnchors', '/anchors', 'OperatedAnchors', {
    title: 'Anchors',
    about: 'Heads of the log on their way to the chain.',
    query: { ...pageQuery, after: text('`last_id` of the page before.', sampleIds.anc) },
  }),
  look('listAllDeposits', '/deposits', 'DepositPage', {
    title: 'Deposits of all accounts',
    about: 'All of them, those that wait, those without an account, or those never credited.',
    query: {
      ...pageQuery,
      after: text('`last_id` of the page before.', sampleIds.dep),
      state: oneOf('Default: all.', ['all', 'waiting', 'unassigned', 'ignored']),
    },
  }),
  look('showLedgerAudit', '/ledger', 'LedgerAudit', {
    title: 'The last audit of the ledger',
    about: 'The newest one that an operator asked for.',
  }),
  look('listAuditLog', '/audit-log', 'AuditPage', {
    title: 'The audit log',
    about: 'Who did what, newest first.',
    query: {
      ...pageQuery,
      after: text('`last_id` of the page before.', sampleIds.req),
      account: text('Only what was done to an account.', wallet),
    },
  }),
]

const accountAct = (id: string, verb: 'suspend' | 'resume', about: string): Operation => ({
  id,
  route: `POST /api/portal/admin/accounts/:id/${verb}`,
  title: verb === 'suspend' ? 'Suspend an account' : 'Resume an account',
  about,
  access: 'admin',
  path: accountPath,
  body: { schema: ref('ReasonWish'), form: ref('ReasonWish') },
  examples: [
    { name: 'An account', path: { id: other }, body: reason, status: 200 },
    { name: 'From a form', path: { id: other }, form: reason, status: 200 },
  ],
  answers: done('The account as it is now.', ref('Account')),
  refuses: ['conflict'],
})

const grant = { amount: '5.00', ...reason, once: '1785585600000.0123456789abcdef' }

const actions: readonly Operation[] = [
  {
    id: 'showAccount',
    route: 'GET /api/portal/admin/accounts/:id',
    title: 'One account',
    about: 'Also for an address without an account: a grant opens one.',
    access: 'admin',
    path: accountPath,
    examples: [{ name: 'An account', path: { id: other }, status: 200 }],
    answers: [ok('The account.', ref('AccountDetail'))],
  },
  accountAct(
    'suspendAccount',
    'suspend',
    'Stops its runs in flight, its keys and its sessions. One’s own is a 409.',
  ),
  accountAct('resumeAccount', 'resume', 'Its keys and its money work as before.'),
  {
    id: 'grantAccount',
    route: 'POST /api/portal/admin/accounts/:id/grant',
    title: 'Grant credit',
    about: 'Once for each `once`, however often it is sent; with another body it is a 422.',
    access: 'admin',
    path: accountPath,
    body: { schema: ref('GrantWish'), form: ref('GrantWish') },
    examples: [
      { name: 'Five dollars', path: { id: other }, body: grant, status: 200 },
      { name: 'From a form', path: { id: other }, form: grant, status: 200 },
    ],
    answers: done('The account as it is now.', ref('Account')),
    refuses: ['conflict', 'idempotency_mismatch'],
  },
  {
    id: 'assignDeposit',
    route: 'POST /api/portal/admin/deposits/:id/assign',
    title: 'Assign a deposit',
    about: 'Gives a deposit to another account than that of its sender: what is still available.',
    access: 'admin',
    path: { id: id('dep', 'Id of a deposit.') },
    body: { schema: ref('AssignWish'), form: ref('AssignWish') },
    examples: [
      {
        name: 'A deposit',
        path: { id: sampleIds.dep },
        body: { account: wallet, ...reason },
        status: 200,
      },
    ],
    answers: done('The deposit as it is now.', ref('Deposit')),
    refuses: ['conflict'],
  },
  {
    id: 'reloadConfiguration',
    route: 'POST /api/portal/admin/reload',
    title: 'Read the configuration again',
    about: 'As SIGHUP does. A file with problems is refused as a whole, with 200 and `problems`.',
    access: 'admin',
    examples: [{ name: 'Reload', status: 200 }],
    answers: done('What came of it.', ref('Reloaded')),
    refuses: ['conflict'],
  },
  {
    id: 'anchorNow',
    route: 'POST /api/portal/admin/anchors/now',
    title: 'Anchor now',
    about: 'Asks for an anchor without waiting for the next one. Without a chain it is a 409.',
    access: 'admin',
    examples: [{ name: 'Without a chain', status: 409 }],
    answers: done('It is asked for.', ref('AnchorAsked')),
    refuses: ['conflict'],
  },
  {
    id: 'auditLedger',
    route: 'POST /api/portal/admin/ledger/audit',
    title: 'Audit the ledger now',
    about: 'Compares all money with its journal, on one unmoving picture.',
    access: 'admin',
    examples: [{ name: 'Audit', status: 200 }],
    answers: done('The audit.', ref('LedgerAudit')),
  },
]

export const operatorArea: Area = {
  id: 'operator',
  group: 'dashboard',
  title: 'Operator',
  about: 'For the wallets in `admins` of the configuration. Every other wallet gets a 404.',
  operations: [...looks, ...actions],
  schemas: operatorSchemas,
}
