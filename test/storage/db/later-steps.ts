import type { Schema } from '../../../src/storage/db/schema/migrate.ts'
import { embedMigrations, stepOf } from '../../../src/storage/db/schema/migrations.macro.ts'

/** The schema of a later build: the steps of this one, and more, each a list of statements. */
export function schemaWith(dialect: 'sqlite' | 'pg', later: Record<string, string[]>): Schema {
  const added = Object.entries(later).map(([tag, statements]) => ({ tag, statements }))
  const texts = [...embedMigrations(dialect), ...added]
  return { steps: texts.map(stepOf), texts: () => texts }
}
