import { systemRandom } from '../../src/kernel/random.ts'
import { migratedDatabase } from './migrated-database.ts'

/** The server that `TEST_DATABASE_URL` names; tests on it are left out where there is none. */
export const postgresServer = process.env['TEST_DATABASE_URL']

/** A database of its own on that server, or on another one. */
export type EmptyDatabase = {
  name: string
  url: string
  /** Another connection to it, beside the servers under test. */
  sql: Bun.SQL
  /** A connection to the server that outlives the database. */
  admin: Bun.SQL
  drop(): Promise<void>
}

/** An empty database, or one with the tables of this build. */
export async function emptyDatabase(
  server = postgresServer ?? '',
  { isMigrated = false } = {},
): Promise<EmptyDatabase> {
  const name = `t_${Buffer.from(systemRandom().bytes(8)).toString('hex')}`
  const admin = new Bun.SQL({ url: server, max: 1 })
  const template = isMigrated ? await migratedDatabase(admin, server) : 'template1'
  await admin.unsafe(`create database ${name} template ${template}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  const sql = new Bun.SQL({ url: url.href, max: 1 })
  return {
    ...{ name, url: url.href, sql, admin },
    async drop() {
      await sql.close()
      await admin.unsafe(`drop database if exists ${name} with (force)`)
      await admin.close()
    },
  }
}
