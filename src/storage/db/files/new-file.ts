/** Creates a new SQLite file at the current schema in one step. */
import { Database } from 'bun:sqlite'
import { existsSync, linkSync, readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Millis } from '../../../kernel/clock.ts'
import { noteSteps } from '../schema/migrate.ts'
import { embedSchema } from './new-file.macro.ts' with { type: 'macro' }
import { syncFolder, writeSynced } from './whole-file.ts'

const schema: string = embedSchema()

/**
 * Creates the database atomically and returns its migration steps. Undefined if it exists, or if
 * the file system cannot do that: then the slower migrations run. `name` is unique to this process.
 * @throws the error of a disk that fails to sync the folder.
 */
export function placeNewFile(file: string, name: string, now: Millis): string[] | undefined {
  if (existsSync(file)) return undefined
  const steps = placeWhole(file, `${file}.${beforeName}${name}`, now)
  if (steps) syncFolder(file)
  return steps
}

const beforeName = 'new-'

/** Deletes files left by processes that were killed before their new file was in place. */
export function dropHalfPlaced(file: string): void {
  const folder = dirname(file)
  if (!existsSync(folder)) return
  const start = `${basename(file)}.${beforeName}`
  for (const name of readdirSync(folder)) {
    const isOurs = name.startsWith(start) && /^[0-9a-f]{16}$/.test(name.slice(start.length))
    if (isOurs) rmSync(join(folder, name), { force: true })
  }
}

function placeWhole(file: string, beside: string, now: Millis): string[] | undefined {
  try {
    const { bytes, steps } = makeFile(now)
    writeSynced(beside, bytes)
    // Unlike rename, link fails if another process was faster.
    linkSync(beside, file)
    return steps
  } catch {
    return undefined
  } finally {
    rmSync(beside, { force: true })
  }
}

function makeFile(now: Millis): { bytes: Uint8Array; steps: string[] } {
  const raw = Database.deserialize(Bun.gunzipSync(Buffer.from(schema, 'base64')))
  const steps = noteSteps(raw, now)
  const bytes = raw.serialize()
  raw.close()
  // As PRAGMA journal_mode = WAL writes it; an in-memory database cannot be in that mode.
  bytes.fill(2, 18, 20)
  return { bytes, steps }
}
