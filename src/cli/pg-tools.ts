import { quote } from './finding.ts'

/** What to type where PostgreSQL's own tools do the work. */

/** How to back a PostgreSQL database up. */
export const dumpCommand = (url: string, file: string): string =>
  [
    'PostgreSQL brings its own tool, which copies one moment of a running service:',
    `  pg_dump --format=custom --no-owner --file=${quote(file)} ${quote(withoutPassword(url))}`,
    ...passwordHint(url),
  ].join('\n')

/** How to put it back, and what `restore` would do besides. */
export const restoreCommands = (url: string, file: string): string => {
  const database = quote(withoutPassword(url))
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

const passwordHint = (url: string): string[] =>
  URL.parse(url)?.password ? ['It asks for the password, or takes it from PGPASSWORD.'] : []
