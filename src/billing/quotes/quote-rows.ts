/** The quotes that commands of the ledger make and use. */
import { definePart } from '../../ledger/part.ts'
import type { QuoteRow } from '../../storage/db/schema/schema.ts'
import { insert, lockFound, update } from '../../storage/db/sql/query-steps.ts'

/** By digest. Two accounts that use one quote come one after the other. */
export const quoteRows = definePart({
  name: 'quotes',
  rank: 30,
  empty: () => ({
    byDigest: new Map<string, QuoteRow>(),
    added: [] as QuoteRow[],
    written: new Set<QuoteRow>(),
  }),
  *load({ tables }, { byDigest }, ids: readonly string[]) {
    const digest = [...new Set(ids)].sort()
    for (const row of yield* lockFound(tables.quotes, { digest })) byDigest.set(row.digest, row)
  },
  *write({ tables: { quotes } }, { added, written }) {
    yield* insert(quotes, added)
    yield* update(quotes, [...written], ['used'])
  },
  kept: ({ added }) => added,
})
