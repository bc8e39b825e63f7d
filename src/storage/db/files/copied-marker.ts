/** Marks a SQLite database that was copied elsewhere, so that no server opens it. */
import type { Database } from 'bun:sqlite'

/** The target of a copy (a URL without credentials) and its time (RFC 3339). */
export type CopiedMarker = { to: string; at: string }

const movedFact = 'database.moved'

/** Marks a database whose copy is complete and checked, in the caller's transaction. */
export function writeCopiedMarker(raw: Database, moved: CopiedMarker): void {
  raw.run('insert or replace into facts (name, value) values (?, ?)', [
    movedFact,
    JSON.stringify(moved),
  ])
}

/** The mark of a database; undefined without one, or without a schema. */
export function readCopiedMarker(raw: Database): CopiedMarker | undefined {
  const has = raw.prepare("select 1 from sqlite_master where name = 'facts'").values().length > 0
  if (!has) return undefined
  const [row] = raw.prepare('select value from facts where name = ?').values(movedFact)
  return row && (JSON.parse(String(row[0])) as CopiedMarker)
}

/** Removes the mark: the database is used again despite its copy. */
export function removeCopiedMarker(raw: Database): void {
  raw.run('delete from facts where name = ?', [movedFact])
}

/** A PostgreSQL URL reduced to host, port and database. */
export function placeOf(url: string): string {
  const { hostname, port, pathname } = new URL(url)
  return `postgres://${hostname || 'localhost'}:${port || 5432}${pathname}`
}
