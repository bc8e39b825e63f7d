/** Builds an empty database at the current schema at transpile time. */
import { Database } from 'bun:sqlite'
import { embedMigrations } from '../schema/migrations.macro.ts'

/** A SQLite file after all migrations, gzipped, as base64. */
export function embedSchema(): string {
  const raw = new Database(':memory:')
  // As connection.ts opens a new file.
  raw.run('PRAGMA page_size = 2048')
  for (const { statements } of embedMigrations('sqlite')) {
    for (const statement of statements) raw.run(statement)
  }
  const bytes = Uint8Array.from(raw.serialize())
  return Buffer.from(Bun.gzipSync(bytes, { level: 9 })).toString('base64')
}
