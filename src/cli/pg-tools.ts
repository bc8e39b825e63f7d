/** The commands of PostgreSQL's own tools, for backup and restore. */
import { withoutPassword } from '../config/database-place.ts'
import { quote } from './finding.ts'

/** The command that backs up a PostgreSQL database. */
export function dumpCommand(url: string, file: string): string {
  const database = quote(forTools(withoutPassword(url)))
  return [
    "Use PostgreSQL's own tool, which copies a consistent snapshot of a running service:",
    `  pg_dump --format=custom --no-owner --file=${quote(file)} ${database}`,
    ...passwordHint(url),
  ].join('\n')
}

/** The commands that restore it, and do what `restore` does besides. */
export const restoreCommands = (url: string, file: string): string => {
  const database = quote(forTools(withoutPassword(url)))
  const over = 'delete from sessions; delete from sign_in_nonces; delete from leases; '
  const calls = 'delete from idempotent_calls where reply is null'
  return [
    "Use PostgreSQL's own tool, with all servers stopped and the database empty:",
    `  pg_restore --single-transaction --no-owner --dbname=${database} ${quote(file)}`,
    `  psql ${database} --command=${quote(over + calls)}`,
    ...passwordHint(url),
  ].join('\n')
}

/** A URL without the parameters that only Bun's client knows; libpq rejects those. */
export function forTools(url: string): string {
  const parsed = URL.parse(url)
  if (!parsed?.searchParams.has('prepare')) return url
  parsed.searchParams.delete('prepare')
  return parsed.href
}

/** The password of a URL as a libpq environment variable. */
export function passwordOf(url: string): { PGPASSWORD?: string } {
  const password = URL.parse(url)?.password
  return password ? { PGPASSWORD: decodeURIComponent(password) } : {}
}

const passwordHint = (url: string): string[] =>
  URL.parse(url)?.password ? ['It prompts for the password, or reads it from PGPASSWORD.'] : []
