/** Copies an embedded database into an empty PostgreSQL one and proves the copy. */
import type { Millis } from '../kernel/clock.ts'
import { auditStore } from '../ledger/store/audit.ts'
import { type LedgerSums, sumLedger } from '../ledger/store/sums.ts'
import { readWholeLogs, type WholeLog } from '../proof/log/store/whole.ts'
import type { Db } from '../storage/db/engine/db.ts'
import type { PgDirect } from '../storage/db/engine/pg-drizzle.ts'
import { postgresDb } from '../storage/db/engine/postgres.ts'
import { assertNoTables, copyTables, type Tally, tallyTables } from '../storage/db/files/copy.ts'
import { migratePostgres } from '../storage/db/schema/migrate.ts'

/** The copied rows and logs, as counted in the copy. */
export type CopyReport = { tables: Tally[]; ledger: LedgerSums; logs: WholeLog[] }

/**
 * Copies a SQLite database without a writer into an empty PostgreSQL one, in one transaction, and
 * reads the copy again before COMMIT: every row, the sums of the ledger, the root of every log. A
 * failure leaves the target empty.
 * @throws Error that names what differs or is not sound.
 */
export function copyDatabase(
  source: Db,
  { drizzle: pg }: { drizzle: PgDirect },
  options: { now: Millis; tell: (tally: Tally) => void },
): Promise<CopyReport> {
  const { now, tell } = options
  return pg.transaction(async (tx) => {
    await assertNoTables(tx)
    await migratePostgres(tx, now)
    const target = postgresDb(tx, async () => {})
    const copied = await copyTables(source, { pg: tx, tables: target.tables }, tell)
    const tables = await tallyTables(target, source.tables)
    const [from, ledger] = [await sumLedger(source), await sumLedger(target)]
    const [logsFrom, logs] = [await readWholeLogs(source), await readWholeLogs(target)]
    const faults = [
      ...differences(copied, tables),
      ...(textOf(from) === textOf(ledger) ? [] : [`the ledger comes to ${textOf(ledger)}`]),
      ...(textOf(logsFrom) === textOf(logs) ? [] : [`the logs come to ${textOf(logs.logs)}`]),
      ...(await auditStore(target).faults(now)),
      ...logs.faults,
    ]
    if (faults.length > 0) {
      const list = faults.slice(0, faultsMax).map((fault) => `  - ${fault}`)
      throw new Error(['The copy is not sound, and was not kept:', ...list].join('\n'))
    }
    return { tables, ledger, logs: logs.logs }
  })
}

/** Faults named at most. */
const faultsMax = 20

function differences(copied: Tally[], read: Tally[]): string[] {
  return copied.flatMap((tally, i) => {
    const other = read[i]
    if (other?.table === tally.table && textOf(other) === textOf(tally)) return []
    return [`${tally.table} has ${other?.rows} rows that are not the ${tally.rows} of the source`]
  })
}

const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) => {
    if (typeof part === 'bigint') return String(part)
    const isRecord = typeof part === 'object' && part !== null && !Array.isArray(part)
    return isRecord ? Object.fromEntries(Object.entries(part).sort()) : part
  })
