/** The place of a database, in words that an operator may see. */
import { resolve } from 'node:path'

type DatabaseSetting = { database_url: string }

/** The file of an embedded database; undefined on PostgreSQL. */
export const databaseFile = ({ database_url: url }: DatabaseSetting): string | undefined =>
  url.startsWith('sqlite:') ? resolve(url.slice('sqlite:'.length)) : undefined

/** The file of a database, or its URL without a password. */
export const databaseName = (named: DatabaseSetting): string =>
  databaseFile(named) ?? withoutPassword(named.database_url)

export function withoutPassword(url: string): string {
  const parsed = URL.parse(url)
  if (!parsed?.password) return url
  parsed.password = ''
  return parsed.href
}
