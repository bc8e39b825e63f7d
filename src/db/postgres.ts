import { getTableColumns, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/bun-sql'
import { getTableConfig, type PgTable } from 'drizzle-orm/pg-core'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { pgColumns } from './columns.ts'
import type { Db, Notice, Notices, Query, Step, Values, Work } from './db.ts'
import { buildSchema } from './schema.ts'
import { primaryKeyOf } from './statements.ts'

/** How often a transaction that lost a serialisation race or a deadlock is tried again. */
const raceRetries = 50

/** Connections of one node. Money of one account is serial anyway; the rest is reads. */
const connections = 16

/** What the seam needs of drizzle's PostgreSQL drivers; Bun's and PGlite's both have it. */
export type PgDrizzle = {
  transaction<T>(work: (tx: PgDrizzle) => Promise<T>, options?: PgTransaction): Promise<T>
  execute(query: unknown): PromiseLike<unknown>
}
type PgTransaction = {
  isolationLevel: 'read committed' | 'repeatable read'
  accessMode?: 'read only'
}

/** Opens a PostgreSQL server through Bun's own client. */
export function openPostgres(url: string): Db & { drizzle: PgDrizzle } {
  const client = new Bun.SQL({ url, max: connections })
  const db = postgresDb(drizzle({ client }) as unknown as PgDrizzle, () => client.close())
  return { ...db, notices: noticesOf(client) }
}

/** The channel of {@link Notices}; each database has its own. */
const channel = 'counterfoil'

const noticesOf = (client: Bun.SQL): Notices => ({
  tell: (notice) => client.notify(channel, notice).catch(() => {}),
  async hear(listener) {
    await client.listen(channel, (text) => listener(text as Notice))
  },
})

/** The seam over any of drizzle's PostgreSQL drivers. */
export function postgresDb(
  pg: PgDrizzle,
  close: () => Promise<unknown>,
): Db & { drizzle: PgDrizzle } {
  const query = pg as unknown as Query
  const inTransaction = async <T>(
    work: (q: Query) => Work<T>,
    options: PgTransaction,
  ): Promise<T> => {
    for (let attempt = 0; ; attempt++) {
      try {
        return await pg.transaction((tx) => drive(work(tx as unknown as Query), tx), options)
      } catch (error) {
        if (!isRace(error) || attempt >= raceRetries) throw error
        await Bun.sleep(Math.min(2 ** attempt, 64))
      }
    }
  }
  return {
    engine: 'postgres',
    tables: buildSchema(pgColumns),
    exclusive: false,
    drizzle: pg,
    write: (work) => inTransaction(work, { isolationLevel: 'read committed' }),
    read: (work) => drive(work(query), pg),
    snapshot: (work) =>
      inTransaction(work, { isolationLevel: 'repeatable read', accessMode: 'read only' }),
    onForeignWrite: () => {},
    // The server's vacuum does it, and its write-ahead log is its operator's.
    scrub: async () => true,
    walBytes: () => null,
    close: async () => void (await close()),
  }
}

async function drive<T>(work: Work<T>, pg: PgDrizzle): Promise<T> {
  let turn = work.next()
  while (!turn.done) {
    let outcome: unknown
    try {
      outcome = await perform(turn.value, pg)
    } catch (error) {
      turn = work.throw(error)
      continue
    }
    turn = work.next(outcome)
  }
  return turn.value
}

type PgSelect = PromiseLike<unknown> & { for(strength: 'update'): PromiseLike<unknown> }
type PgWriter = {
  insert(table: unknown): {
    values(rows: Values[]): PromiseLike<unknown> & {
      onConflictDoUpdate(clause: unknown): PromiseLike<unknown>
    }
  }
  update(table: unknown): {
    set(values: Values): { where(condition: unknown): PromiseLike<unknown> }
  }
}

function perform(step: Step, pg: PgDrizzle): PromiseLike<unknown> {
  if (step.kind === 'rows') {
    const select = step.query as unknown as PgSelect
    return step.lock ? select.for('update') : select
  }
  if (step.kind === 'prepared') return step.build(step.values) as unknown as PgSelect
  const writer = pg as unknown as PgWriter
  const columns: Record<string, SQLiteColumn> = getTableColumns(step.table)
  const keys = primaryKeys(step.table)
  const keyFields = Object.entries(columns).filter(([, column]) => keys.includes(column.name))
  if (step.kind === 'update') {
    return Promise.all(
      step.rows.map((row) => {
        const set = Object.fromEntries(step.set.map((field) => [field, row[field]]))
        const found = keyFields.map(([field, column]) => sql`${column} = ${row[field]}`)
        return writer.update(step.table).set(set).where(sql.join(found, sql` and `))
      }),
    )
  }
  const set = step.kind === 'upsert' ? excluded(step.set, columns) : undefined
  const target = keyFields.map(([, column]) => column)
  return Promise.all(
    powersOfTwo(step.rows).map((rows) => {
      const added = writer.insert(step.table).values(rows)
      return set ? added.onConflictDoUpdate({ target, set }) : added
    }),
  )
}

/** The table is PostgreSQL's at run time; only the type checker sees it as SQLite's. */
const primaryKeys = (table: SQLiteTable): string[] =>
  primaryKeyOf(getTableConfig(table as unknown as PgTable) as unknown as TableKeys)
type TableKeys = Parameters<typeof primaryKeyOf>[0]

/** Cuts rows into runs whose lengths are powers of two, so that few statements get prepared. */
function powersOfTwo(rows: Values[]): Values[][] {
  const out: Values[][] = []
  for (let from = 0; from < rows.length; ) {
    const size = 2 ** Math.min(6, Math.floor(Math.log2(rows.length - from)))
    out.push(rows.slice(from, from + size))
    from += size
  }
  return out
}

const excluded = (fields: string[], columns: Record<string, SQLiteColumn>) =>
  Object.fromEntries(
    fields.map((field) => [field, sql.raw(`excluded."${columns[field]?.name ?? field}"`)]),
  )

/** Serialisation failure (40001) or deadlock (40P01), wherever the driver put the code. */
function isRace(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { errno, code } = at as { errno?: unknown; code?: unknown }
    if ([errno, code].some((c) => c === '40001' || c === '40P01')) return true
  }
  return false
}
