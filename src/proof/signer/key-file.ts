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
import { syncFolder, writeSynced } from '../../storage/db/whole-file.ts'

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

/**
 * Writes a key (hex) to a file of its own, 0600: whole or not at all, wherever a full disk cuts it
 * off, and wherever a crash does where a file can have two names.
 * @throws when the file is there already.
 */
export function writeKeyFile(path: string, hex: string): void {
  const text = Buffer.from(`${hex}\n`)
  // Named by what is in it: two starts at once never write into each other's.
  const beside = `${path}.new-${sha256Hex(hex).slice(0, 16)}`
  try {
    writeSynced(beside, text, 'w')
    // Unlike a rename it fails where there is a key.
    linkSync(beside, path)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && unlinked.has(error.code))) throw error
    writeSynced(path, text)
  } finally {
    rmSync(beside, { force: true })
  }
  syncFolder(path)
}

/** What file systems without a second name for a file say. */
const unlinked = new Set<unknown>(['ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EPERM'])

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
