/** Replaces a file as a whole. */
import {
  chmodSync,
  chownSync,
  closeSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'

/**
 * Writes a new text beside a file that exists and renames it, so that a crash leaves the old one.
 * Owner, group and mode stay: the service may only have group access.
 * @throws Error when the folder or the file cannot be written; nothing has changed then
 */
export function replaceFile(file: string, text: string): void {
  const fresh = `${file}.new`
  try {
    const { mode, uid, gid } = statSync(file)
    writeFileSync(fresh, text, { mode: 0o600 })
    chownSync(fresh, uid, gid)
    chmodSync(fresh, mode & 0o777)
    sync(fresh)
    renameSync(fresh, file)
  } catch (error) {
    rmSync(fresh, { force: true })
    throw error
  }
}

function sync(path: string): void {
  const opened = openSync(path, 'r')
  try {
    fsyncSync(opened)
  } finally {
    closeSync(opened)
  }
}
