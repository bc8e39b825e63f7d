/** Every area of the reference, in the order of its pages. */
import { accountEntries, signInArea } from '../../access/accounts/reference.ts'
import { balanceEntry, keysArea, leakEntry, ownKeysArea } from '../../access/keys/reference.ts'
import { membersArea } from '../../access/members/reference.ts'
import { depositsEntry, ownDepositEntries } from '../../billing/deposits/reference.ts'
import { ownPlansArea, plansEntry } from '../../billing/plans/reference.ts'
import { quotesArea } from '../../billing/quotes/reference.ts'
import { statementEntries } from '../../billing/statement/reference.ts'
import { ownUsageEntries, usageArea } from '../../billing/usage/reference.ts'
import { ownVoucherEntry, voucherEntry } from '../../billing/vouchers/reference.ts'
import { ownWebhooksArea, webhooksArea } from '../../billing/webhooks/reference.ts'
import { modelEntries } from '../../models/reference.ts'
import { anchorsEntry } from '../../proof/anchors/reference.ts'
import { liabilitiesEntries, ownLiabilitiesEntry } from '../../proof/liabilities/reference.ts'
import { ownPassportsArea, passportsArea } from '../../proof/passports/reference.ts'
import { ownReceiptsArea, receiptsArea } from '../../proof/receipts/reference.ts'
import { signerEntry } from '../../proof/signer/reference.ts'
import { messagesArea, openaiArea, responsesArea } from '../../runs/protocols-reference.ts'
import { ownRunsArea, runsArea } from '../../runs/reference.ts'
import type { Schema, Schemas } from '../../web/http/json-schema.ts'
import { spellShapes } from '../../web/http/json-schema.ts'
import type { TSchema } from '../../web/http/shape.ts'
import { area } from '../../web/reference/entry.ts'
import type { Area, Operation } from '../../web/reference/operation.ts'
import { operatedArea, operatorArea } from '../admin/reference.ts'
import { consoleArea } from '../console/reference.ts'
import { explorerArea } from '../explorer/reference.ts'
import { mcpArea } from '../mcp/reference.ts'
import { operatorApiArea, operatorFiguresArea } from '../operator/reference.ts'
import { overviewEntries } from '../overview/reference.ts'
import { probeEntries, statusEntry } from '../status/reference.ts'
import { consoleCommandEntry, terminalArea } from '../terminal/reference.ts'
import { documentEntries } from './reference.ts'

/** A new route is one entry in the `reference.ts` of its room. */
const written: readonly Area<TSchema>[] = [
  openaiArea,
  messagesArea,
  responsesArea,
  runsArea,
  quotesArea,
  keysArea,
  receiptsArea,
  area('log', 'programs', 'Log, anchors, signer', {
    about:
      'Every receipt is a leaf of one append-only Merkle tree (RFC 9162, SHA-256). Its heads are ' +
      'signed, and go to a contract on chain 4663 that only takes what continues the log.',
    operations: [anchorsEntry, signerEntry, ...liabilitiesEntries],
  }),
  usageArea,
  area('money', 'programs', 'Balance, deposits, plans', {
    about:
      'What an account has, what came in and what it pays by the month. Changed in the dashboard.',
    operations: [balanceEntry, depositsEntry, plansEntry, voucherEntry],
  }),
  webhooksArea,
  explorerArea,
  passportsArea,
  terminalArea,
  mcpArea,
  operatorApiArea,
  operatorFiguresArea,
  area('service', 'programs', 'Models and service', {
    about:
      'What runs here, what it costs, and how the server is. `/metrics` (Prometheus) is not ' +
      'here: it has a listener of its own where the operator configures `metrics.listen`.',
    operations: [...modelEntries, statusEntry, leakEntry, ...probeEntries, ...documentEntries],
  }),
  signInArea,
  area('account', 'dashboard', 'Overview, settings, sessions', {
    about: 'The account at a glance, what it can set, and where it is signed in.',
    operations: [...overviewEntries, ...accountEntries],
  }),
  membersArea,
  ownKeysArea,
  ownRunsArea,
  ownReceiptsArea,
  consoleArea(consoleCommandEntry),
  area('own-money', 'dashboard', 'Money of an account', {
    about: 'Deposits, statement, proofs and usage of the signed-in account.',
    operations: [
      ...ownDepositEntries,
      ownVoucherEntry,
      ...statementEntries,
      ownLiabilitiesEntry,
      ...ownUsageEntries,
    ],
  }),
  ownPlansArea,
  ownPassportsArea,
  ownWebhooksArea,
  operatorArea,
  operatedArea,
]

const found: Record<string, Schema> = {}

/** All areas with JSON Schema: each shape stands with the area that names it first. */
export const areas: readonly Area[] = written.map((area) => {
  const known = new Set(Object.keys(found))
  const spelled = spellShapes(area, found) as unknown as Area
  const own = Object.entries(found).filter(([name]) => !known.has(name))
  return { ...spelled, schemas: Object.fromEntries(own) }
})

export const operations: readonly Operation[] = areas.flatMap((area) => area.operations)

export const schemas: Schemas = Object.assign({}, ...areas.map((area) => area.schemas))
