/** Opens the database of a command that changes it, and tells which one that is. */
import { openCommandServices } from '../app/open-command-services.ts'
import { databaseName } from '../config/database-place.ts'
import { configOf, say } from './context.ts'

/** The office of these settings; `database` names what it wrote to, without a password. */
export async function openNamedServices(options: Record<string, unknown>) {
  const config = configOf(options)
  const office = await openCommandServices(config)
  const database = databaseName(config)
  return {
    ...office,
    database,
    /** Says on stderr which database was written to. */
    tell: (): void => say(`Written to ${database}`),
  }
}
