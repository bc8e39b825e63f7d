/** Opens the database of a command that changes it, and tells which one that is. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { openOffice } from '../app/open-office.ts'
import type { Config } from '../config/config.ts'
import { configOf, say } from './context.ts'
import { withoutPassword } from './pg-tools.ts'

/**
 * The office of these settings; `database` names what it wrote to, without a password. A command in
 * another folder than its server's makes a database of its own, which looks like success.
 */
export async function openNamedOffice(options: Record<string, unknown>) {
  const config = configOf(options)
  const file = fileOf(config)
  const isNew = file !== undefined && !existsSync(file)
  const office = await openOffice(config)
  const database = file ?? withoutPassword(config.database_url)
  return {
    ...office,
    database,
    /** Says on stderr which database was written to. */
    tell(): void {
      say(`Written to ${database}`)
      if (!isNew) return
      say('This database is new: no server has used it. If yours runs already, repeat the command')
      say('in its folder, or with its --config or --data.')
    },
  }
}

const fileOf = ({ database_url: url }: Config): string | undefined =>
  url.startsWith('sqlite:') ? resolve(url.slice('sqlite:'.length)) : undefined
