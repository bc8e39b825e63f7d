/** Writes a change that was shown into the configuration file of a running server. */
import { rmSync } from 'node:fs'
import type { Config } from '../../config/config.ts'
import { readConfigText as readConfigOf } from '../../config/file.ts'
import { sha256Hex } from '../../kernel/hash.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { ReloadResult } from '../reload-port.ts'
import { readConfigText, replaceConfig } from './config-file.ts'
import { storeKey } from './key-file.ts'

/** The configuration of a running server. */
export type DeskPlace = {
  path: string
  /** Flags of the command that runs the server. */
  flags: Record<string, unknown>
  /** As it was read at the start. */
  config: Config
  reload: () => Promise<ReloadResult>
}

/** A change as an operator saw it. */
type ShownChange = {
  /** SHA-256 of the file before and after. */
  before: string
  after: string
  /** The key, and the new file that is to keep it; undefined where none is stored. */
  key: { secret: string; file: string } | undefined
}

/**
 * Writes the text that `make` gives for the present one, if both are those that were shown.
 * @throws Refusal 'conflict'; nothing has changed then
 */
export function writeChange(
  place: DeskPlace,
  { before, after, key }: ShownChange,
  make: (text: string) => string | undefined,
): Promise<ReloadResult> {
  const { path, flags } = place
  // No other request of this process runs between this look and the rename.
  const text = readConfigText(path)
  const fresh = sha256Hex(text) === before ? make(text) : undefined
  if (fresh === undefined || sha256Hex(fresh) !== after) {
    const why = `${path} was changed since. Nothing was written: look at the change again.`
    return refuse('conflict', why)
  }
  // The key goes first: a configuration that names a missing key would stop the next start.
  if (key) keepKey(key)
  try {
    const loaded = readConfigOf(flags, fresh)
    if ('problems' in loaded) {
      refuse('conflict', `${path} was not changed. It would be invalid: ${loaded.problems[0]}`)
    }
    replace(path, fresh, text)
  } catch (error) {
    if (key) rmSync(key.file, { force: true })
    throw error
  }
  return reloadWritten(place)
}

/** Reads a file again that is right: a failure is in the log, and the next start takes it on. */
export const reloadWritten = ({ path, reload }: DeskPlace): Promise<ReloadResult> =>
  reload().catch(() => ({
    problems: [`The server could not take on ${path}: see its log.`],
  }))

function keepKey({ file, secret }: NonNullable<ShownChange['key']>): void {
  try {
    storeKey(file, secret)
  } catch {
    refuse('conflict', `The key could not be stored in ${file}. Nothing was changed.`)
  }
}

function replace(path: string, fresh: string, read: string): void {
  try {
    replaceConfig(path, fresh, read)
  } catch {
    refuse('conflict', `${path} could not be written. Make the change there by hand.`)
  }
}
