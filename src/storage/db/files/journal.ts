/** The journal of one account in order, as a subquery whose cost does not grow with it. */
import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../engine/db.ts'

/** The columns of {@link journalPage}, for `select`. */
export function lineColumns({ views }: Pick<Db, 'views'>) {
  const { accountId: _, ...columns } = getTableColumns(views.journal)
  type Line = { [field in keyof typeof columns]: SQL<(typeof columns)[field]['_']['data']> }
  const read = Object.entries(columns).map(([field, column]) => [
    ...[field, sql`journal.${sql.identifier(column.name)}`.mapWith(column)],
  ])
  return Object.fromEntries(read) as Line
}

/** The columns that a condition on lines can name. */
export type Line = Record<'at' | 'seq' | 'source' | 'target', SQL>

export type JournalPage = {
  account: string
  /** Repeated for the charges in `runs` and for all other lines. */
  where: (line: Line) => SQL | undefined
  newestFirst?: boolean
  limit: number
}

/** The first lines of an account in one direction, to select from. */
export function journalPage({ account, where, newestFirst, limit }: JournalPage): SQL {
  const own = (line: Line): SQL => {
    const more = where(line)
    return more ? sql`account_id = ${account} and ${more}` : sql`account_id = ${account}`
  }
  const transfer = { at: sql`at`, seq: sql`seq`, source: sql`source`, target: sql`target` }
  const transfers = sql`select ref, kind, source, target, amount, at, seq, balance
    from transfers where ${own(transfer)}`
  const charge = { ...transfer, at: sql`moved_at`, source: sql`'user'`, target: sql`'revenue'` }
  const charges = sql`select id as ref, 'run' as kind, 'user' as source, 'revenue' as target,
      cost as amount, moved_at as at, seq, balance
    from runs where seq is not null and ${own(charge)}`
  const order = newestFirst ? sql`at desc, seq desc` : sql`at, seq`
  // Each is limited by itself: PostgreSQL plans a limited UNION ALL by reading and sorting all.
  const first = (of: SQL) => sql`select * from (${of} order by ${order} limit ${limit}) as part`
  const both = sql`${first(transfers)} union all ${first(charges)}`
  return sql`(${both} order by ${order} limit ${limit}) as journal`
}
