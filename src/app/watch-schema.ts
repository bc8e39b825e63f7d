/** Looks whether another node has migrated the database that this one serves. */
import type { Db } from '../storage/db/engine/db.ts'
import { schemaSteps } from '../storage/db/schema/migrate.ts'
import { readSchemaMark, schemaHealthOf } from '../storage/db/schema/schema-needs.ts'
import type { Deps } from './deps-port.ts'

/** Notes in the health how the schema compares with this build's, and logs each change once. */
export async function watchSchema(
  { health, log }: Pick<Deps, 'health' | 'log'>,
  db: Db,
): Promise<void> {
  const mark = await readSchemaMark(db)
  if (!mark) return
  const found = schemaHealthOf(schemaSteps, mark)
  if (found === health.schema) return
  health.schema = found
  const fields = { newest: mark.newest, known: schemaSteps.at(-1) }
  if (found === 'ok') log.info('schema.same', fields)
  else if (found === 'newer') log.warn('schema.newer', { ...fields, advice })
  else log.error('schema.foreign', new Error(advice), fields)
}

const advice = 'a newer version has migrated the database; upgrade this node to it'
