/** Declares what the list of an account's keys is narrowed by. */
import * as q from '../../../web/http/query-fields.ts'
import { sampleIds } from '../../../web/http/shape.ts'
import type { KeyListFilter } from '../browse.ts'
import type { KeyStatus } from '../key.ts'

export const stateWords: Readonly<Record<KeyStatus, string>> = {
  usable: 'Usable',
  paused: 'Paused',
  expired: 'Expired',
  revoked: 'Revoked',
}

export const ownKeyQuery = q.declareQuery({
  ...q.pageFields(sampleIds.key),
  state: q.choice('Only those.', ['usable', 'paused', 'expired', 'revoked'], {
    label: 'State',
    first: 'In use',
    words: stateWords,
  }),
  name: q.text('Only those whose name holds this.', 'agent', {
    label: 'Filter by name',
    placeholder: 'Filter by name',
  }),
})

/** @throws Refusal 'invalid_request' */
export function readWanted(query: URLSearchParams): KeyListFilter {
  const { state, name } = ownKeyQuery.readForm(query)
  return { state, name: name?.trim() || undefined }
}
