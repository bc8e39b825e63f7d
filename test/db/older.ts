import { sha256Hex } from '../../src/kernel/hash.ts'
import type { Db } from '../../src/storage/db/db.ts'
import { migratePostgres, migrateSqlite } from '../../src/storage/db/migrate.ts'
import { embedMigrations } from '../../src/storage/db/migrations.macro.ts'
import type { PgDrizzle } from '../../src/storage/db/postgres.ts'
import type { openSqlite } from '../../src/storage/db/sqlite.ts'
import { direct } from './direct.ts'

/** Takes the steps of an empty database up to `tag`, as an older build did. */
export async function migrateUpTo(db: Db, tag: string): Promise<void> {
  const isSqlite = db.engine === 'sqlite'
  if (isSqlite) await direct(db, `PRAGMA application_id = ${0x43464c31}`)
  const columns = '(tag text primary key, hash text not null, applied_at bigint not null)'
  await direct(
    db,
    `create table migrations ${isSqlite ? columns.replace('bigint', 'integer') : columns}`,
  )
  for (const step of embedMigrations(isSqlite ? 'sqlite' : 'pg')) {
    if (step.tag > tag) return
    for (const statement of step.statements) await direct(db, statement)
    const hash = sha256Hex(step.statements.join(';\n'))
    await direct(db, `insert into migrations values ('${step.tag}', '${hash}', 0)`)
  }
}

/** Takes the steps that are left. */
export async function migrateRest(db: Db): Promise<string[]> {
  if (db.engine !== 'sqlite') return migratePostgres((db as Db & { drizzle: PgDrizzle }).drizzle, 0)
  return migrateSqlite((db as ReturnType<typeof openSqlite>).raw, 0, () => {})
}
