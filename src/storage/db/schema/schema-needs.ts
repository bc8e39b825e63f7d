/** Says which builds can serve a database that a newer build has migrated. */
import { sql } from 'drizzle-orm'
import type { Db } from '../engine/db.ts'
import { prepared } from '../sql/query-steps.ts'

/**
 * The oldest step with which a build can serve a database of this build: every later step only adds
 * (test/storage/db/additive.test.ts). A step that changes or removes something names itself here.
 */
export const neededStep = '0000_init'

/** One row: the step that builds must know. */
export const needsTable = 'create table if not exists schema_needs (tag text primary key)'

/** The schema marks of a database. `needed` is undefined if no build has set it. */
export type SchemaMark = { newest: string; needed: string | undefined }

/** How a database's schema compares with this build's. */
export type SchemaHealth =
  /** Both have the same steps. */
  | 'ok'
  /** A newer build added to it; this build can serve it until it is replaced. */
  | 'newer'
  /** A newer build changed it; this build must not write. */
  | 'foreign'

/** Judges a database against the steps of a build, the last one being its newest. */
export function schemaHealthOf(steps: readonly string[], mark: SchemaMark): SchemaHealth {
  const { newest, needed } = mark
  if (steps.includes(newest)) return 'ok'
  return needed !== undefined && steps.includes(needed) ? 'newer' : 'foreign'
}

const columns = {
  newest: sql<string>`(select max(tag) from migrations)`,
  needed: sql<string | null>`(select max(tag) from schema_needs)`,
}

/** Reads the mark of a database; undefined before it has any fact. */
export async function readSchemaMark(db: Db): Promise<SchemaMark | undefined> {
  const { facts } = db.tables
  const [row] = await db.read((q) =>
    prepared('schema.mark', {}, () => q.select(columns).from(facts).limit(1)),
  )
  return row && { newest: row.newest, needed: row.needed ?? undefined }
}
