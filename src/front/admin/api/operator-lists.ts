/** Reads what an operator asks of lists, on a page and through the operator API. */
import { toAccountId } from '../../../access/accounts/account.ts'
import type { Deps } from '../../../app/deps-port.ts'
import { maxPageLimit, type Page } from '../../../kernel/pagination.ts'
import { refuse } from '../../../kernel/refusal.ts'
import type { AccountRow, DepositRow } from '../../../storage/db/schema/schema.ts'
import { isAddress } from '../../../verify/address.ts'
import { readChoice, readPage, readText } from '../../../web/http/query.ts'

export type FoundAccounts = { found: Page<AccountRow>; prefix: string; isFirst: boolean }

/** Accounts by address, from a prefix of it on. @throws Refusal 'invalid_request', 'not_found' */
export async function readAccounts(
  { admin }: Pick<Deps, 'admin'>,
  query: URLSearchParams,
): Promise<FoundAccounts> {
  const prefix = (readText(query, 'q') ?? '').trim().toLowerCase()
  if (!/^(0(x[0-9a-f]{0,40})?)?$/.test(prefix)) {
    refuse('invalid_request', { message: 'Enter 0x and the first hex digits.', param: 'q' })
  }
  const { limit, after: typed } = readPage(query)
  const after = typed === undefined ? undefined : readAddress(typed)
  const found = await admin.accounts({ prefix, limit, after })
  return { found, prefix, isFirst: after === undefined }
}

export const depositViews = ['all', 'waiting', 'unassigned', 'ignored'] as const
export type DepositView = (typeof depositViews)[number]

export type FoundDeposits = { found: Page<DepositRow>; of: DepositView; isFirst: boolean }

/** Deposits of all accounts, in one of the four views. @throws Refusal 'invalid_request' */
export async function readDeposits(
  { admin }: Pick<Deps, 'admin'>,
  query: URLSearchParams,
): Promise<FoundDeposits> {
  const of = readChoice(query, 'state', depositViews) ?? 'all'
  const page = readPage(query)
  const found = await {
    all: () => admin.deposits(page),
    waiting: () => admin.waitingDeposits(maxPageLimit),
    unassigned: () => admin.unassignedDeposits(maxPageLimit),
    ignored: () => admin.ignoredDeposits(maxPageLimit),
  }[of]()
  return { of, found, isFirst: page.after === undefined }
}

/** An address in a path. @throws Refusal 'not_found' */
export const readAddress = (text: string): string =>
  isAddress(text) ? toAccountId(text) : refuse('not_found')
