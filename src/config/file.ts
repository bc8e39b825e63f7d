/** Reads the configuration file of this process. */
import { lstatSync, readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  type FileContent,
  type Inputs,
  type LoadedConfig,
  loadConfig,
  type ReadFile,
} from './config.ts'

/** Read from the working folder unless `--config` or `COUNTERFOIL_CONFIG` names another file. */
const defaultPath = 'counterfoil.toml'

/** The configuration of this process with a text in place of its file. */
export const readConfigText = (
  flags: Record<string, unknown>,
  fileText: string,
  { isOffline }: Pick<Inputs, 'isOffline'> = {},
): LoadedConfig =>
  loadConfig({ flags, env: process.env, fileText, filePath: defaultPath, readFile, isOffline })

/**
 * The configuration of this process. A file named by `--config` (`file`) or `COUNTERFOIL_CONFIG`
 * must exist; the default file may be missing. A file that exists and cannot be read is a problem:
 * defaults in its place would start a new, empty service with a signer key of its own.
 * @param how offline, the secrets that are sent to others may be missing
 */
export function readConfig(
  flags: Record<string, unknown>,
  file: string | undefined,
  { isOffline }: Pick<Inputs, 'isOffline'> = {},
): LoadedConfig {
  const named = file ?? process.env['COUNTERFOIL_CONFIG']
  const filePath = named || defaultPath
  const read = readFile(filePath)
  if (read && 'unreadable' in read) {
    return { problems: [`${resolve(filePath)}: ${read.unreadable}`] }
  }
  if (named && !read) {
    const remedy = 'correct --config or COUNTERFOIL_CONFIG, or write the file: counterfoil init'
    return { problems: [`${filePath}: there is no such configuration file; ${remedy}`] }
  }
  const { env } = process
  return loadConfig({ flags, env, fileText: read?.text, filePath, readFile, isOffline })
}

const readFile: ReadFile = (path) => {
  try {
    return textOf(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // A symbolic link exists even when its target does not.
    if (code === 'ENOENT' && lstatSync(path, { throwIfNoEntry: false }) === undefined) {
      return undefined
    }
    return { unreadable: reasons[code ?? ''] ?? `it cannot be read (${code})` }
  }
}

const textOf = (path: string): FileContent => ({
  text: readFileSync(path, 'utf8'),
  mode: statSync(path).mode & 0o777,
})

/** Why a file that exists cannot be read, and the remedy, by error code. */
const reasons: Record<string, string> = {
  EACCES: 'this user may not read it; give it to the user that counterfoil runs as (chown, chmod)',
  EISDIR:
    'this is a folder, not a file; put the file there (Docker makes a folder for a mount whose ' +
    'source is missing: delete the folder, write the file, and make the container again)',
  ELOOP: 'this link leads back to itself; point it at the file',
  ENOENT: 'this link points to a file that does not exist; write that file or delete the link',
}
