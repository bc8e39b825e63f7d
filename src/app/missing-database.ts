/** Refuses a command whose database is not there: a new, empty ledger would look like success. */
import { statSync } from 'node:fs'
import { databaseFile, databaseName } from '../config/database-place.ts'
import { WrongSetting } from '../config/ensure-folder.ts'
import { runningServers, serverInWords } from './running-servers.ts'

/** How many servers a refusal lists. */
const shownMost = 8

type DatabaseSetting = { database_url: string }

/** @throws the error of the system for a folder that this user may not look into */
const isThere = (file: string): boolean => statSync(file, { throwIfNoEntry: false }) !== undefined

/** @throws WrongSetting (78) unless the file of an embedded database is there. */
export function assertFileIsThere(config: DatabaseSetting): void {
  const file = databaseFile(config)
  if (file === undefined || isThere(file) || isThere(`${file}-wal`)) return
  throw missingDatabase(config)
}

/** Says which database was looked for, and which servers run elsewhere on this machine. */
export function missingDatabase(config: DatabaseSetting): WrongSetting {
  const where = databaseName(config)
  const elsewhere = elsewhereWords(where)
  return new WrongSetting(
    [
      `There is no database at ${where}, and this command does not make one.`,
      ...elsewhere,
      elsewhere.length === 0
        ? 'Repeat the command in the folder of your server, or with its --config or --data.'
        : 'Repeat the command there, or with the --config or --data of that server.',
      'For a new database: counterfoil serve, or counterfoil migrate without a server.',
    ].join('\n'),
  )
}

/** The servers of other databases, a line each, with a heading; none without any. */
export function elsewhereWords(database: string): string[] {
  const others = runningServers().filter((server) => server.database !== database)
  if (others.length === 0) return []
  const shown = others.slice(0, shownMost).map((one) => `  - ${serverInWords(one)}`)
  const more = others.length > shownMost ? [`  - and ${others.length - shownMost} more`] : []
  return ['A server runs on this machine:', ...shown, ...more]
}
