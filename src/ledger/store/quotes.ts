/** Loads and writes the quotes that commands name. */
import { insert, lockFound, update, type Work } from '../../storage/db/query-steps.ts'
import type { Tables } from '../../storage/db/schema.ts'
import type { Command } from '../command.ts'
import type { QuoteRows } from '../quote-rows.ts'
import type { TrackedRows } from '../unit-of-work.ts'

/**
 * Locks quotes in order, after accounts and the others: two accounts that use one quote come one
 * after the other.
 */
export function* loadQuotes(
  { quotes }: Tables,
  tracked: TrackedRows,
  commands: readonly Command<unknown>[],
): Work<void> {
  const digest = [...new Set(commands.flatMap(({ quote }) => quote ?? []))].sort()
  if (digest.length === 0) return
  const byDigest = new Map<string, QuoteRows['added'][number]>()
  for (const row of yield* lockFound(quotes, { digest })) byDigest.set(row.digest, row)
  tracked.quotes = { byDigest, added: [], written: new Set() }
}

export function* writeQuotes({ quotes }: Tables, { added, written }: QuoteRows): Work<void> {
  yield* insert(quotes, added)
  yield* update(quotes, [...written], ['used'])
}
