/** Tells how many connections a PostgreSQL server takes from ordinary roles. */
import { sql } from 'drizzle-orm'
import { prepared } from '../sql/query-steps.ts'
import type { Db } from './db.ts'

const limits = {
  most: sql<string>`current_setting('max_connections')`,
  kept: sql<string>`current_setting('superuser_reserved_connections')`,
}

/** Undefined on SQLite, and on a database without any fact. */
export async function readConnectionRoom(db: Db): Promise<number | undefined> {
  if (db.engine !== 'postgres') return undefined
  const { facts } = db.tables
  const [row] = await db.read((q) =>
    prepared('connection_limits', {}, () => q.select(limits).from(facts).limit(1)),
  )
  return row && Number(row.most) - Number(row.kept)
}
