/** The texts and answers of runs that the commands which end them keep. */
import { asc, inArray } from 'drizzle-orm'
import { definePart } from '../ledger/part.ts'
import type { KeptItemRow } from '../storage/db/schema/schema.ts'
import { findFields, insert, lockedRows } from '../storage/db/sql/query-steps.ts'
import { type Retention, retentionMs } from '../storage/texts/retention.ts'
import type { RunText } from '../storage/texts/store.ts'

/**
 * Texts are stored by the retention of the moment of the write: a retention that was shortened
 * meanwhile applies to runs in flight too.
 */
export const textRows = definePart({
  name: 'texts',
  rank: 70,
  empty: (): RunText[] => [],
  *write({ q, tables: { accountSettings, runTexts }, now }, texts) {
    if (texts.length === 0) return
    const { accountId } = accountSettings
    const named = inArray(accountId, [...new Set(texts.map((text) => text.accountId))])
    const ordered = q.select().from(accountSettings).where(named).orderBy(asc(accountId))
    const retentionOf = new Map<string, Retention>()
    for (const row of yield* lockedRows(ordered)) retentionOf.set(row.accountId, row.retention)
    const kept = texts.flatMap((text) => {
      const retention = retentionOf.get(text.accountId) ?? 'none'
      return retention === 'none' ? [] : [{ ...text, until: now + retentionMs[retention] }]
    })
    yield* insert(runTexts, kept)
  },
  kept: (texts) => texts,
})

/** The answers that a next turn can name, unless their account forbids to keep them. */
export const itemRows = definePart({
  name: 'items',
  rank: 80,
  empty: (): KeptItemRow[] => [],
  *write({ tables: { accountSettings, keptItems } }, items) {
    const accountId = [...new Set(items.map((item) => item.accountId))]
    const known = yield* findFields(accountSettings, ['accountId', 'keepsResponses'], { accountId })
    const silent = new Set<string>()
    for (const row of known) if (row.keepsResponses === false) silent.add(row.accountId)
    yield* insert(
      keptItems,
      items.filter((item) => !silent.has(item.accountId)),
    )
  },
  kept: (items) => items,
})
