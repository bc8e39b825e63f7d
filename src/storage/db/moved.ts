import type { Database } from 'bun:sqlite'

/** Where a SQLite database was copied to (a URL without credentials), and when (RFC 3339). */
export type Moved = { to: string; at: string }

/** The fact that marks a database whose copy goes on elsewhere. */
const movedFact = 'database.moved'

/** Marks a database whose copy is complete and checked; within a transaction of the caller. */
export function markMoved(raw: Database, moved: Moved): void {
  raw.run('insert or replace into facts (name, value) values (?, ?)', [
    movedFact,
    JSON.stringify(moved),
  ])
}

/** The mark of a database; undefined where there is none, also before the first schema. */
export function movedTo(raw: Database): Moved | undefined {
  const has = raw.prepare("select 1 from sqlite_master where name = 'facts'").values().length > 0
  if (!has) return undefined
  const [row] = raw.prepare('select value from facts where name = ?').values(movedFact)
  return row && (JSON.parse(String(row[0])) as Moved)
}

/** Takes the mark away: the database goes on, in spite of its copy. */
export function unmarkMoved(raw: Database): void {
  raw.run('delete from facts where name = ?', [movedFact])
}

/** A PostgreSQL URL with host, port and database alone. */
export function placeOf(url: string): string {
  const { hostname, port, pathname } = new URL(url)
  return `postgres://${hostname || 'localhost'}:${port || 5432}${pathname}`
}
