/** The schema for drizzle-kit, PostgreSQL's half. */
import { pgColumns } from './columns.ts'
import { buildSchema } from './schema.ts'

export const {
  accounts,
  keys,
  keySecrets,
  keyWindows,
  transfers,
  runs,
  deposits,
  subscriptions,
  leases,
  facts,
  logs,
  logLeaves,
  logCheckpoints,
  priceLists,
  signers,
  anchors,
  chainTxs,
  accountSettings,
  runTexts,
  shares,
  erasedReceipts,
  auditEntries,
  sessions,
  signInNonces,
  usageDays,
} = buildSchema(pgColumns)
