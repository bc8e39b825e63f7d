/** Creates a folder that a setting names, and checks that it is writable. */
import { accessSync, constants, lstatSync, mkdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** A setting that names something it cannot name; ends a command with 78. */
export class WrongSetting extends Error {}

/**
 * Makes a folder (0700) with those above it unless it is there, and looks whether this user may
 * write to it. `setting` is what named it: `data` or `database_url`.
 * @throws WrongSetting when there is a file in its place
 * @throws Error with the folder and the remedy when it cannot be made or written to
 */
export function ensureFolder(folder: string, setting: 'data' | 'database_url'): void {
  const path = resolve(folder)
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    accessSync(path, constants.W_OK | constants.X_OK)
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' || code === 'ENOTDIR') {
      const remedy = 'name another path, or move the file away'
      throw new WrongSetting(`${setting} needs a folder, but ${nearest(path)} is a file; ${remedy}`)
    }
    const isThere = exists(path)
    const what = isThere ? `cannot write to the folder ${path}` : `cannot make the folder ${path}`
    const remedy = remedies[code]?.(isThere ? path : nearest(path)) ?? message
    throw new Error(`${what}: ${remedy}`, { cause: error })
  }
}

const remedies: Record<string, (path: string) => string> = {
  EACCES: (path) =>
    `this user may not write to ${path}; give it to the user that counterfoil runs as (chown), ` +
    'or name another folder in data',
  EROFS: (path) =>
    `${path} is on a read-only file system; mount it writable (in a container: a volume), or ` +
    'name another folder in data',
  ENOSPC: (path) => `the file system of ${path} is full; make room`,
}

/** The path itself, or the closest one above it that exists. */
function nearest(path: string): string {
  return exists(path) || dirname(path) === path ? path : nearest(dirname(path))
}

/** Also true of a symbolic link whose target is missing. */
function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    return false
  }
}
