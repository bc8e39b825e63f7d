/** Declares the queries of public passports. */
import * as q from '../../../web/http/query-fields.ts'
import { sampleIds } from '../../../web/http/shape.ts'
import { sorts } from '../browse.ts'
import { type Kind, kinds } from '../profile.ts'

export const kindsWords: Readonly<Record<Kind, string>> = {
  agent: 'Agents',
  person: 'People',
  service: 'Services',
}

export const passportsQuery = q.declareQuery({
  ...q.pageFields(sampleIds.psp),
  kind: q.choice('Only those.', kinds, {
    label: 'Kind',
    first: 'All',
    words: kindsWords,
  }),
  sort: q.choice('Default: newest.', sorts, {
    label: 'Order',
    first: 'Newest',
    words: { runs: 'Most runs' },
  }),
})

export const passportQuery = q.declareQuery({
  receipts: q.choice('Whether to name public receipts.', ['0', '1']),
  format: q.choice('Default: json.', ['json', 'erc8004']),
})
