/** Writes a provider into the configuration file, and its key into a file of its own. */
import { rmSync } from 'node:fs'
import type { Config } from '../../config/config.ts'
import { readConfigText as readConfigOf } from '../../config/file.ts'
import { sha256Hex } from '../../kernel/hash.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { ReloadResult } from '../reload-port.ts'
import { readConfigText, replaceConfig } from './config-file.ts'
import type { ProviderDraft } from './desk-port.ts'
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

/** The text of a file with an addition behind its end. */
export const withAddition = (text: string, addition: string): string =>
  `${text === '' ? '' : `${text.trimEnd()}\n\n`}${addition}`

/** @throws Refusal 'conflict'; nothing has changed then */
export function writeProvider(
  { path, flags, reload }: DeskPlace,
  draft: ProviderDraft,
): Promise<ReloadResult> {
  const { key } = draft
  // No other request of this process runs between this look and the rename.
  const text = readConfigText(path)
  const fresh = withAddition(text, draft.addition)
  if (sha256Hex(text) !== draft.before || sha256Hex(fresh) !== draft.after) {
    refuse('conflict', `${path} was changed since. Nothing was written: look at the change again.`)
  }
  // The key goes first: a configuration that names a missing key would stop the next start.
  if (key) keepKey(key)
  try {
    const loaded = readConfigOf(flags, fresh)
    if ('problems' in loaded) {
      refuse('conflict', `${path} was not changed. It would be invalid: ${loaded.problems[0]}`)
    }
    write(path, fresh, text)
  } catch (error) {
    if (key) rmSync(key.file, { force: true })
    throw error
  }
  // The file is right by then: a reload that failed is in the log, and the next start takes it on.
  return reload().catch(() => ({
    problems: [`The server could not take on ${path}: see its log.`],
  }))
}

function keepKey({ file, secret }: NonNullable<ProviderDraft['key']>): void {
  try {
    storeKey(file, secret)
  } catch {
    refuse('conflict', `The key could not be stored in ${file}. Nothing was changed.`)
  }
}

function write(path: string, fresh: string, read: string): void {
  try {
    replaceConfig(path, fresh, read)
  } catch {
    refuse('conflict', `${path} could not be written. Copy the lines of the change into it.`)
  }
}
