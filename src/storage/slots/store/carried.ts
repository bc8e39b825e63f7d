/** The rows that a move of slots carries, as JSON, and their digest. */
import { type SQL, sql } from 'drizzle-orm'
import type { PgDirect } from '../../db/engine/pg-drizzle.ts'
import type { Tables } from '../../db/schema/schema.ts'

/** A connection, or a transaction on it. */
export type QueryRunner = Pick<PgDirect, 'execute'>

/** A database of PostgreSQL; slots do not move on SQLite, which has one process. */
export type Side = { pg: PgDirect; tables: Tables }

/** Runs a statement and returns its rows, keyed by the names of their columns. */
export async function ask<T = Record<string, unknown>>(pg: QueryRunner, query: SQL): Promise<T[]> {
  const answer = await pg.execute(query)
  return (Array.isArray(answer) ? answer : (answer as { rows: unknown[] }).rows) as T[]
}

/** The slot of an address in a column, as `slotOf` has it. */
const slotIn = (column: SQL): SQL => {
  const hash = sql`sha256(convert_to(lower(${column}), 'UTF8'))`
  return sql`((get_byte(${hash}, 0) << 2) | (get_byte(${hash}, 1) >> 6))`
}

/** Whether an address in a column is of one of these slots. */
export const isIn = (column: SQL, slots: readonly number[]): SQL =>
  sql`(${column} like '0x%' and ${slotIn(column)} in (${list(slots)}))`

export const list = (values: readonly (number | string)[]): SQL =>
  sql.join(
    values.map((value) => sql`${value}`),
    sql`, `,
  )

/** The identity of a transfer on the chain, which no reorg changes. */
export const identity = (d: SQL): SQL =>
  sql`concat_ws('/', ${d}.chain_id, ${d}.tx_hash, ${d}.token, ${d}.from_address,
    ${d}.token_amount, ${d}.ordinal)`

/** The row that waits until the other step of a move, or who opens an account, is through. */
export async function lockGate(pg: QueryRunner, { facts }: Tables): Promise<void> {
  const found = await ask(pg, sql`select value from ${facts} where name = 'shard' for update`)
  if (found.length === 0) throw new Error('this database is not a shard yet; start its server once')
}

/** A row of a table as JSON. */
export type CarriedRow = { place: number; kind: string; row: string }

/** Rows read and written in one step. */
const pageRows = 500

/** The rows of a move in their order, page by page. */
export async function* carriedRows(
  pg: QueryRunner,
  { slotMoveRows }: Tables,
  move: string,
): AsyncGenerator<CarriedRow[], void, void> {
  let last = -1
  for (;;) {
    const page = await ask<CarriedRow>(
      pg,
      sql`select place, kind, row from ${slotMoveRows} where move = ${move} and place > ${last}
        order by place limit ${pageRows}`,
    )
    if (page.length > 0) yield page
    if (page.length < pageRows) return
    last = page.at(-1)?.place ?? last
  }
}

/** SHA-256 over the move and all that it carries. */
export function digestOf(move: string) {
  const hash = new Bun.CryptoHasher('sha256').update(`${move}\n`)
  return {
    add: (rows: readonly CarriedRow[]): void => {
      for (const { kind, row } of rows) hash.update(`${kind} ${row}\n`)
    },
    hex: (): string => hash.digest('hex'),
  }
}
