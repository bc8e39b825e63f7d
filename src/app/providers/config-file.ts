/** Reads the configuration file as text, and replaces it with the older one kept beside it. */
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  readFileSync,
  realpathSync,
  statSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { makeFile, replaceFile } from '../../config/replace-file.ts'

/** Empty when there is no file yet; another reason was told by the configuration. */
export function readConfigText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/**
 * Writes a configuration file, a new one too. An older one stays beside it as `<file>.1`, whole
 * before the new one takes its place.
 * @throws Error when the folder or the file cannot be written; the file is as before then
 * @throws ChangedMeanwhile when the file is not `read` any more, if that is given
 */
export function replaceConfig(path: string, text: string, read?: string): void {
  if (!existsSync(path)) {
    makeFile(path, text)
    return
  }
  const file = realpathSync(path)
  const older = `${file}.1`
  if (!existsSync(older)) makeFile(older, '')
  chmodSync(older, statSync(file).mode & 0o777)
  replaceFile(older, readFileSync(file, 'utf8'))
  replaceFile(file, text, read)
}

/** Whether the file can be replaced: by a rename in its folder. */
export function canReplace(path: string): boolean {
  try {
    const isThere = existsSync(path)
    accessSync(dirname(isThere ? realpathSync(path) : path), constants.W_OK)
    if (isThere) accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}
