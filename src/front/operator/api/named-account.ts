/** Reads the account that a body or a query of the operator API names. */
import { isAddress, toAccountId } from '../../../access/accounts/account.ts'
import { refuse } from '../../../kernel/refusal.ts'
import { readText } from '../../../web/http/query.ts'

/** @throws Refusal 'invalid_request' */
export const toAccount = (named: string): string =>
  isAddress(named)
    ? toAccountId(named)
    : refuse('invalid_request', { message: 'Send a wallet address: 0x…', param: 'account' })

/** Reads the account of a list from its query. @throws Refusal 'invalid_request' */
export const readAccountOf = (query: URLSearchParams): string =>
  toAccount(readText(query, 'account') ?? '')
