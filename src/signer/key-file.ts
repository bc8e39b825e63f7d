import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from 'node:fs'
import { userInfo } from 'node:os'
import { dirname } from 'node:path'

/**
 * The text of a file with a secret; undefined when there is no file.
 * @throws Error that names the file and what to do, never what is in it.
 */
export function readSecretFile(path: string, what: string): string | undefined {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw new Error(`the ${what} ${path} cannot be opened`)
  }
  try {
    // Of the opened file, not of the path: it cannot be exchanged in between.
    const { mode, uid } = fstatSync(file)
    if (uid !== userInfo().uid) {
      throw new Error(`the ${what} ${path} belongs to another user; chown it`)
    }
    if ((mode & 0o777) !== 0o600) {
      const found = (mode & 0o777).toString(8)
      throw new Error(`the ${what} ${path} has mode ${found}; run: chmod 600 ${path}`)
    }
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

/** Writes a key (hex) to a file of its own, 0600. @throws when the file is there already. */
export function writeKeyFile(path: string, hex: string): void {
  // 'wx': two starts at once must not overwrite each other's key.
  const file = openSync(path, 'wx', 0o600)
  try {
    writeSync(file, `${hex}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  syncFolder(path)
}

/** Where the key after the one in `path` lies until it stands, and where that one goes then. */
export const nextPathOf = (path: string): string => `${stemOf(path)}.next.key`
export const oldPathOf = (path: string, address: string): string => `${stemOf(path)}-${address}.key`

/**
 * Puts the next key in the place of the one in `path`, which is kept under its address. Each step
 * is one rename, so a start can go on wherever this was cut off.
 */
export function moveKeyFiles(path: string, oldAddress: string): void {
  if (existsSync(path)) renameSync(path, oldPathOf(path, oldAddress))
  renameSync(nextPathOf(path), path)
  syncFolder(path)
}

const stemOf = (path: string): string => path.replace(/\.key$/, '')

/** A new name in a folder is on the disk only when the folder is. */
function syncFolder(path: string): void {
  const folder = openSync(dirname(path), 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
