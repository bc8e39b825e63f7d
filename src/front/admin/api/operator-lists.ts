/** Reads what an operator asks of lists, on a page and through the operator API. */
import { toAccountId } from '../../../access/accounts/account.ts'
import type { Deps } from '../../../app/deps-port.ts'
import { maxPageLimit, type Page } from '../../../kernel/pagination.ts'
import { refuse } from '../../../kernel/refusal.ts'
import type { AccountRow, DepositRow } from '../../../storage/db/schema/schema.ts'
import { isAddress } from '../../../verify/address.ts'
import * as q from '../../../web/http/query-fields.ts'
import { sampleIds, sampleWallet } from '../../../web/http/shape.ts'

export const accountQuery = q.declareQuery({
  q: q.parsed('Only those whose address begins so.', '0xf39f', readPrefix, {
    label: 'Address prefix',
    placeholder: '0x…',
  }),
  ...q.pageFields('0x70997970C51812dc3A010C7d01b50e0d17dc79C8'),
})

function readPrefix(typed: string, param: string): string {
  const prefix = typed.trim().toLowerCase()
  if (/^(0(x[0-9a-f]{0,40})?)?$/.test(prefix)) return prefix
  return refuse('invalid_request', { message: 'Enter 0x and the first hex digits.', param })
}

export type FoundAccounts = { found: Page<AccountRow>; prefix: string; isFirst: boolean }

/** Accounts by address, from a prefix of it on. @throws Refusal 'invalid_request', 'not_found' */
export async function readAccounts(
  { admin }: Pick<Deps, 'admin'>,
  query: URLSearchParams,
): Promise<FoundAccounts> {
  const { q: prefix = '', limit, after: typed } = accountQuery.read(query)
  const after = typed === undefined ? undefined : readAddress(typed)
  const found = await admin.accounts({ prefix, limit, after })
  return { found, prefix, isFirst: after === undefined }
}

const depositViews = ['all', 'waiting', 'unassigned', 'ignored'] as const
export type DepositView = (typeof depositViews)[number]

export const depositQuery = q.declareQuery({
  ...q.pageFields(sampleIds.dep),
  state: q.choice('Default: all.', depositViews, {
    label: 'Which deposits',
    first: 'All',
    words: { waiting: 'Waiting', unassigned: 'Unassigned', ignored: 'Ignored' },
  }),
})

export const auditQuery = q.declareQuery({
  ...q.pageFields(sampleIds.req),
  account: q.parsed(
    'Only what was done to an account.',
    sampleWallet,
    (typed) => (typed.trim() === '' ? undefined : readAddress(typed.trim())),
    { label: 'Account address', placeholder: '0x…, in full' },
  ),
})

export type FoundDeposits = { found: Page<DepositRow>; of: DepositView; isFirst: boolean }

/** Deposits of all accounts, in one of the four views. @throws Refusal 'invalid_request' */
export async function readDeposits(
  { admin }: Pick<Deps, 'admin'>,
  query: URLSearchParams,
): Promise<FoundDeposits> {
  const { state: of = 'all', limit, after } = depositQuery.read(query)
  const page = { limit, after }
  const found = await {
    all: () => admin.deposits(page),
    waiting: () => admin.waitingDeposits(maxPageLimit),
    unassigned: () => admin.unassignedDeposits(maxPageLimit),
    ignored: () => admin.ignoredDeposits(maxPageLimit),
  }[of]()
  return { of, found, isFirst: after === undefined }
}

/** An address in a path. @throws Refusal 'not_found' */
export const readAddress = (text: string): string =>
  isAddress(text) ? toAccountId(text) : refuse('not_found')
