import { Database } from 'bun:sqlite'
import { embedMigrations } from './migrations.macro.ts'

/** A SQLite file that all steps were taken on, while Bun transpiles: gzipped, as base64. */
export function embedSchema(): string {
  const raw = new Database(':memory:')
  for (const { statements } of embedMigrations('sqlite')) {
    for (const statement of statements) raw.run(statement)
  }
  const bytes = Uint8Array.from(raw.serialize())
  return Buffer.from(Bun.gzipSync(bytes, { level: 9 })).toString('base64')
}
