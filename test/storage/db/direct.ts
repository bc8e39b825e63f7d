import type { Database } from 'bun:sqlite'
import { sql } from 'drizzle-orm'
import type { Db } from '../../../src/storage/db/engine/db.ts'
import type { PgDirect } from '../../../src/storage/db/engine/pg-drizzle.ts'

/** Runs SQL past every command of ours, as someone with the database at hand would. */
export async function direct(db: Db, text: string): Promise<void> {
  if (db.engine === 'sqlite') (db as Db & { raw: Database }).raw.run(text)
  else await (db as Db & { drizzle: PgDirect }).drizzle.execute(sql.raw(text))
}
