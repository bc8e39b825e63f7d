/** Reads and writes files that hold a secret: mode 0600, owned by this user. */
import {
  closeSync,
  existsSync,
  fstatSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { userInfo } from 'node:os'
import { sha256Hex } from '../../kernel/hash.ts'
import { syncFolder, writeSynced } from '../../storage/db/files/whole-file.ts'

/**
 * Returns the text of a secret file; undefined if the file does not exist.
 * @throws Error that names the file and what to do, never its content.
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
    // Asks about the open file: the path could be replaced between the check and the read.
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

/**
 * Writes a key (hex) to a new file, 0600. A full disk leaves no partial file, and neither does a
 * crash on file systems with hard links.
 * @throws if the file exists.
 */
export function writeKeyFile(path: string, hex: string): void {
  const text = Buffer.from(`${hex}\n`)
  // Named by its content: concurrent starts never write into each other's file.
  const beside = `${path}.new-${sha256Hex(hex).slice(0, 16)}`
  try {
    writeSynced(beside, text, 'w')
    // Unlike a rename, a link fails if the key file exists.
    linkSync(beside, path)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && unlinked.has(error.code))) throw error
    writeSynced(path, text)
  } finally {
    rmSync(beside, { force: true })
  }
  syncFolder(path)
}

/** Error codes of file systems without hard links. */
const unlinked = new Set<unknown>(['ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EPERM'])

/** The paths of the next key before a rotation ends, and of the old key afterwards. */
export const nextPathOf = (path: string): string => `${stemOf(path)}.next.key`
export const oldPathOf = (path: string, address: string): string => `${stemOf(path)}-${address}.key`

/**
 * Replaces the key in `path` by the next one and keeps the old one under its address. Each step is
 * one rename, so a start can resume after a crash.
 */
export function moveKeyFiles(path: string, oldAddress: string): void {
  if (existsSync(path)) renameSync(path, oldPathOf(path, oldAddress))
  renameSync(nextPathOf(path), path)
  syncFolder(path)
}

const stemOf = (path: string): string => path.replace(/\.key$/, '')
