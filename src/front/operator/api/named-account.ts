/** Reads the account that a body or a query of the operator API names. */
import { toAccountId } from '../../../access/accounts/account.ts'
import { refuse } from '../../../kernel/refusal.ts'
import { isAddress } from '../../../verify/address.ts'
import { readText } from '../../../web/http/query.ts'

/** @throws Refusal 'invalid_request' */
export const toAccount = (named: string): string =>
  isAddress(named)
    ? toAccountId(named)
    : refuse('invalid_request', { message: wrongWords(named), param: 'account' })

const wrongWords = (named: string): string =>
  isAddress(named.toLowerCase())
    ? 'The checksum of this wallet address does not fit: copy the address again'
    : 'Send a wallet address: 0x…'

/** Reads the account of a list from its query. @throws Refusal 'invalid_request' */
export const readAccountOf = (query: URLSearchParams): string =>
  toAccount(readText(query, 'account') ?? '')
