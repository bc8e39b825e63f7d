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
  /** Whether a command reads it, on a machine that may lack the secrets of other services. */
  isOffline?: boolean
  reload: () => Promise<ReloadResult>
}

/** A key, and the new file that is to keep it. */
export type StoredKey = { secret: string; file: string }

/** A change as an operator saw it. */
type ShownChange = {
  /** SHA-256 of the file before and after. */
  before: string
  after: string
  /** Keys that are stored with it; undefined where none is. */
  key: StoredKey | readonly StoredKey[] | undefined
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
  const keys = key === undefined ? [] : [key].flat()
  // Keys go first: a configuration that names a missing key would stop the next start.
  keepKeys(keys)
  try {
    const loaded = readConfigOf(flags, fresh, { isOffline: place.isOffline })
    if ('problems' in loaded) {
      refuse('conflict', `${path} was not changed. It would be invalid: ${loaded.problems[0]}`)
    }
    replace(path, fresh, text)
  } catch (error) {
    for (const { file } of keys) rmSync(file, { force: true })
    throw error
  }
  return reloadWritten(place)
}

/** Reads a file again that is right: a failure is in the log, and the next start takes it on. */
export const reloadWritten = ({ path, reload }: DeskPlace): Promise<ReloadResult> =>
  reload().catch(() => ({
    problems: [`The server could not take on ${path}: see its log.`],
  }))

/** All of them or none. @throws Refusal 'conflict' */
function keepKeys(keys: readonly StoredKey[]): void {
  const kept: string[] = []
  for (const { file, secret } of keys) {
    try {
      storeKey(file, secret)
      kept.push(file)
    } catch {
      for (const one of kept) rmSync(one, { force: true })
      refuse('conflict', `The key could not be stored in ${file}. Nothing was changed.`)
    }
  }
}

function replace(path: string, fresh: string, read: string): void {
  try {
    replaceConfig(path, fresh, read)
  } catch {
    refuse('conflict', `${path} could not be written. Make the change there by hand.`)
  }
}
