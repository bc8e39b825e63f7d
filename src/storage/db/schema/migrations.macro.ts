/** Embeds the migrations into the executable at transpile time. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sha256Hex } from '../../../kernel/hash.ts'

/** One step of the schema: drizzle-kit's file, cut into statements. */
export type Migration = { tag: string; statements: string[] }

/** A step without its statements; `hash` is their SHA-256 in hex. */
export type Step = { tag: string; hash: string }

/** The migrations in `drizzle/<dialect>`, by name. */
export function embedMigrations(dialect: 'sqlite' | 'pg'): Migration[] {
  const folder = join(import.meta.dir, '../../../../drizzle', dialect)
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

/** The steps of {@link embedMigrations}. */
export const embedSteps = (dialect: 'sqlite' | 'pg'): Step[] => embedMigrations(dialect).map(stepOf)

export const stepOf = ({ tag, statements }: Migration): Step => ({
  tag,
  hash: sha256Hex(statements.join(';\n')),
})
