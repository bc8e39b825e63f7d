/** Embeds the migrations into the executable at transpile time. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** One step of the schema: drizzle-kit's file, cut into statements. */
export type Migration = { tag: string; statements: string[] }

/** The migrations in `drizzle/<dialect>`, by name. */
export function embedMigrations(dialect: 'sqlite' | 'pg'): Migration[] {
  const folder = join(import.meta.dir, '../../../drizzle', dialect)
  return readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => ({
      tag: name.slice(0, -'.sql'.length),
      statements: readFileSync(join(folder, name), 'utf8')
        .split('--> statement-breakpoint')
        .map((statement) => statement.trim())
        .filter((statement) => statement !== ''),
    }))
}
