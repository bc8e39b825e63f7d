/** Reads counted sums and waits of some pieces of time, in groups. */
import { and, type Column, eq, gte, inArray, lt, type SQL, sql } from 'drizzle-orm'
import type { Millis } from '../../../kernel/clock.ts'
import type { Db } from '../../../storage/db/engine/db.ts'
import { type Query, rows, type Work } from '../../../storage/db/sql/query-steps.ts'
import { wholeNumber } from '../../../storage/db/sql/whole-number.ts'
import type { Sums, UsageOwner } from '../usage.ts'

/** Time from its sums: `from` ≤ at < `to`, in steps of one length from `origin`. */
export type Piece = {
  from: Millis
  to: Millis
  origin: Millis
  length: number
  /** Read by the quarter of an hour; else its edges are midnights (UTC), and days are read. */
  fine: boolean
}

/** The groups of the sums; their days are those of the pieces. */
export type Grouping = {
  day: boolean
  key: boolean
  model: boolean
  provider: boolean
  /** Whether the waits for first tokens are read too. */
  waits: boolean
}

/** A group; what it is not grouped by is null. */
type Group = {
  day: Millis | null
  keyId: string | null
  model: string | null
  provider: string | null
}

export type CountedSums = Sums & Group
export type CountedWaits = Group & { bar: number; runs: number }

type Grouped = Record<'accountId' | 'keyId' | 'model', Column> & { provider?: Column }

/** One statement a piece and table, so that a snapshot of SQLite turns between them. */
export function* readPieces(
  { tables: { usageDays, usageQuarters, firstTokens } }: Pick<Db, 'tables'>,
  q: Query,
  whose: UsageOwner,
  pieces: readonly Piece[],
  by: Grouping,
): Work<{ sums: CountedSums[]; waits: CountedWaits[] }> {
  const sums: CountedSums[] = []
  const waits: CountedWaits[] = []
  for (const piece of pieces) {
    const table = piece.fine ? usageQuarters : usageDays
    const at = piece.fine ? usageQuarters.at : usageDays.day
    const found = yield* rows(
      q
        .select({ ...groupOf(table, at, piece, by), ...totalsOf(table) })
        .from(table)
        .where(within(table, at, whose, piece))
        .groupBy(...columnsOf(table, at, piece, by)),
    )
    for (const row of found) sums.push({ ...groupIn(row, piece), ...sumsIn(row) })
    if (!by.waits) continue
    const { bar, runs } = firstTokens
    const waited = yield* rows(
      q
        .select({ ...groupOf(firstTokens, firstTokens.at, piece, by), bar, runs: total(runs) })
        .from(firstTokens)
        .where(within(firstTokens, firstTokens.at, whose, piece))
        .groupBy(bar, ...columnsOf(firstTokens, firstTokens.at, piece, by)),
    )
    for (const row of waited) {
      waits.push({ ...groupIn(row, piece), bar: row.bar, runs: Number(row.runs) })
    }
  }
  return { sums, waits }
}

const within = (
  { accountId, keyId }: Grouped,
  at: Column,
  { account, keyIds }: UsageOwner,
  { from, to }: Piece,
) =>
  and(
    eq(accountId, account),
    gte(at, from),
    Number.isFinite(to) ? lt(at, to) : undefined,
    keyIds && inArray(keyId, [...keyIds]),
  )

/** The number of the step: both engines divide whole numbers to whole ones. */
const stepOf = (at: Column, { origin, length }: Piece): SQL<string> =>
  sql<string>`(${at} - ${wholeNumber(origin)}) / ${wholeNumber(length)}`

const nothing = sql<null>`null`

const groupOf = ({ keyId, model, provider }: Grouped, at: Column, piece: Piece, by: Grouping) => ({
  step: by.day ? stepOf(at, piece) : nothing,
  keyId: by.key ? sql<string>`${keyId}` : nothing,
  model: by.model ? sql<string>`${model}` : nothing,
  provider: by.provider && provider ? sql<string>`${provider}` : nothing,
})

const columnsOf = ({ keyId, model, provider }: Grouped, at: Column, piece: Piece, by: Grouping) =>
  [
    by.day && stepOf(at, piece),
    by.key && sql`${keyId}`,
    by.model && sql`${model}`,
    by.provider && sql`${provider}`,
  ].filter((one): one is SQL<string> => one !== false)

type FoundGroup = { [field in 'step' | 'keyId' | 'model' | 'provider']: string | null }

const groupIn = ({ step, ...group }: FoundGroup, { origin, length }: Piece): Group => {
  const { keyId, model, provider } = group
  return { day: step === null ? null : origin + Number(step) * length, keyId, model, provider }
}

/** Text: a sum of many rows may be more than a number of the driver holds. */
const total = (column: Column) => sql<string>`cast(coalesce(sum(${column}), 0) as text)`

const totalsOf = (table: Record<keyof Sums, Column>) => ({
  runs: total(table.runs),
  succeeded: total(table.succeeded),
  inputUnits: total(table.inputUnits),
  outputUnits: total(table.outputUnits),
  cachedUnits: total(table.cachedUnits),
  cacheWriteUnits: total(table.cacheWriteUnits),
  reasoningUnits: total(table.reasoningUnits),
  cost: total(table.cost),
})

const sumsIn = (row: Record<keyof Sums, string>): Sums => ({
  runs: Number(row.runs),
  succeeded: Number(row.succeeded),
  inputUnits: Number(row.inputUnits),
  outputUnits: Number(row.outputUnits),
  cachedUnits: Number(row.cachedUnits),
  cacheWriteUnits: Number(row.cacheWriteUnits),
  reasoningUnits: Number(row.reasoningUnits),
  cost: BigInt(row.cost),
})
