import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqlite } from '../../../src/storage/db/engine/sqlite.ts'
import { migrateSqlite } from '../../../src/storage/db/schema/migrate.ts'
import { heldClock, officeOn } from '../../ledger/office.ts'

export const opened: (() => Promise<void> | void)[] = []

/** Closes what a test opened, the last first. */
export async function closeAll(): Promise<void> {
  for (const close of opened.splice(0).reverse()) await close()
}

/** Where a database is to be; its folder goes with {@link closeAll}. */
export function freshFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-sqlite-'))
  opened.push(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'counterfoil.db')
}

/** What one process has of the file: its connection, and a ledger with a memory of its own. */
export function openFile(file: string) {
  const db = openSqlite(file)
  migrateSqlite(db.raw, 0, () => {})
  opened.push(() => db.close())
  const clock = heldClock()
  return { ...officeOn(db, clock), clock, raw: db.raw }
}
