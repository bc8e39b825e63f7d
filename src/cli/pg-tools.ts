import { quote } from './finding.ts'

/** What to type where PostgreSQL's own tools do the work. */

/** How to back a PostgreSQL database up. */
export function dumpCommand(url: string, file: string): string {
  const database = quote(forTools(withoutPassword(url)))
  return [
    'PostgreSQL brings its own tool, which copies one moment of a running service:',
    `  pg_dump --format=custom --no-owner --file=${quote(file)} ${database}`,
    ...passwordHint(url),
  ].join('\n')
}

/** How to put it back, and what `restore` would do besides. */
export const restoreCommands = (url: string, file: string): string => {
  const database = quote(forTools(withoutPassword(url)))
  const over = 'delete from sessions; delete from sign_in_nonces; delete from leases; '
  const calls = 'delete from idempotent_calls where reply is null'
  return [
    'PostgreSQL brings its own tool. With all servers stopped and the database empty:',
    `  pg_restore --single-transaction --no-owner --dbname=${database} ${quote(file)}`,
    `  psql ${database} --command=${quote(over + calls)}`,
    ...passwordHint(url),
  ].join('\n')
}

export function withoutPassword(url: string): string {
  const parsed = URL.parse(url)
  if (!parsed?.password) return url
  parsed.password = ''
  return parsed.href
}

/** A URL as libpq takes it: it refuses parameters that are only known to the client of Bun. */
export function forTools(url: string): string {
  const parsed = URL.parse(url)
  if (!parsed?.searchParams.has('prepare')) return url
  parsed.searchParams.delete('prepare')
  return parsed.href
}

/** The password of a URL as libpq's environment has it. */
export function passwordOf(url: string): { PGPASSWORD?: string } {
  const password = URL.parse(url)?.password
  return password ? { PGPASSWORD: decodeURIComponent(password) } : {}
}

const passwordHint = (url: string): string[] =>
  URL.parse(url)?.password ? ['It asks for the password, or takes it from PGPASSWORD.'] : []
