import { openPostgres } from '../../src/storage/db/engine/postgres.ts'
import { migratePostgres } from '../../src/storage/db/schema/migrate.ts'
import { embedSteps } from '../../src/storage/db/schema/migrations.macro.ts'

/** Of the lock that the processes take which make the same database; any number that is ours alone. */
const lock = 4663_0001

let ready: Promise<string> | undefined

/**
 * The name of a migrated database on a server, to be copied: a copy takes half the time of the
 * migrations. The first process makes it and later ones find it, so it is named after its steps.
 */
export function migratedDatabase(admin: Bun.SQL, base: string): Promise<string> {
  ready ??= findOrMake(admin, base)
  return ready
}

async function findOrMake(admin: Bun.SQL, base: string): Promise<string> {
  const name = `migrated_${Bun.hash(JSON.stringify(embedSteps('pg'))).toString(16)}`
  await admin.unsafe(`select pg_advisory_lock(${lock})`)
  try {
    const found = await admin.unsafe(`select 1 from pg_database where datname = '${name}'`)
    if (found.length === 0) await make(admin, base, name)
  } finally {
    await admin.unsafe(`select pg_advisory_unlock(${lock})`)
  }
  return name
}

/** Under another name until it is whole: a process that is killed leaves no half of a schema behind. */
async function make(admin: Bun.SQL, base: string, name: string): Promise<void> {
  const unfinished = `${name}_unfinished`
  await admin.unsafe(`drop database if exists ${unfinished} with (force)`)
  await admin.unsafe(`create database ${unfinished}`)
  const url = new URL(base)
  url.pathname = `/${unfinished}`
  const db = openPostgres(url.href)
  await migratePostgres(db.drizzle, 0)
  await db.close()
  await admin.unsafe(`alter database ${unfinished} rename to ${name}`)
}
