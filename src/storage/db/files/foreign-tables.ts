/** Reads whole tables of another program's database, and changes nothing in it. */
import { closeSync, openSync, readSync } from 'node:fs'
import { connect } from '../engine/connection.ts'

/** The rows of each table that is there: JSON texts of objects, or the values of its columns. */
export type ForeignTables = Map<string, (string | Record<string, unknown>)[]>

/** The first bytes of a SQLite file. */
const magic = 'SQLite format 3\0'

export function isSqliteFile(file: string): boolean {
  const head = Buffer.alloc(magic.length)
  const opened = openSync(file, 'r')
  try {
    return readSync(opened, head) === magic.length && head.toString('latin1') === magic
  } finally {
    closeSync(opened)
  }
}

/** @throws Error when the file cannot be read as a database */
export function readForeignSqlite(file: string, names: readonly string[]): ForeignTables {
  const raw = connect(file, { readonly: true })
  try {
    raw.run('BEGIN')
    const there = new Set(
      raw
        .query("SELECT name FROM sqlite_master WHERE type = 'table'")
        .values()
        .map(([name]) => String(name)),
    )
    const found: ForeignTables = new Map()
    for (const name of names.filter((one) => there.has(one))) {
      found.set(name, raw.query(`SELECT * FROM ${quoted(name)}`).all() as Record<string, unknown>[])
    }
    return found
  } finally {
    raw.close()
  }
}

/** How long a server may take to let a reader in, in seconds. */
const connectWithinS = 10

/** Settings of Prisma in an address: those of PostgreSQL, such as `sslmode`, stay. */
const ofPrisma = ['schema', 'connection_limit', 'pool_timeout', 'pgbouncer'] as const

/**
 * Reads the tables of one schema: that of the address, or the one that `choose` takes of those that
 * have any of them.
 * @throws Error of `choose`, or one without an address or a password in its words
 */
export async function readForeignPostgres(
  url: string,
  names: readonly string[],
  choose: (schemas: readonly string[]) => string,
): Promise<ForeignTables> {
  const place = URL.parse(url)
  if (!place) throw new Error('it is not the address of a PostgreSQL database')
  // Prisma names the schema in the address, where a server would take it for a setting.
  const own = place.searchParams.get('schema')
  for (const name of ofPrisma) place.searchParams.delete(name)
  const client = new Bun.SQL({ url: place.href, max: 1, connectionTimeout: connectWithinS })
  let refused: unknown
  try {
    return await client.begin('isolation level repeatable read read only', async (sql) => {
      const there: { schema: string; name: string }[] = await sql`
        select table_schema as schema, table_name as name from information_schema.tables
        where table_schema not in ('pg_catalog', 'information_schema')`
      const wanted = there.filter(({ name }) => names.includes(name))
      const known = Map.groupBy(wanted, ({ schema }) => schema)
      let schema = ''
      try {
        schema = choose(own === null ? [...known.keys()] : [own])
      } catch (error) {
        refused = error
        throw error
      }
      const found: ForeignTables = new Map()
      for (const { name } of known.get(schema) ?? []) {
        const from = `${quoted(schema)}.${quoted(name)}`
        const rows = await sql.unsafe(`select row_to_json(t)::text as row from ${from} t`)
        found.set(
          name,
          rows.map(({ row }: { row: string }) => row),
        )
      }
      return found
    })
  } catch (error) {
    if (refused !== undefined) throw refused
    const { code, errno } = error as { code?: unknown; errno?: unknown }
    const known = [errno, code].find((one) => /^[A-Z0-9_]{3,40}$/.test(String(one)))
    throw new Error(`its server could not be read${known === undefined ? '' : ` (${known})`}`)
  } finally {
    await client.close({ timeout: 0 }).catch(() => {})
  }
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`
