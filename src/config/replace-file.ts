/** Replaces a file as a whole. */
import {
  chmodSync,
  chownSync,
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { systemClock } from '../kernel/clock.ts'

/** A file says something else than the text that a change of it was made from. */
export class ChangedMeanwhile extends Error {}

/** A new text that is older was left by a command that died, in ms. */
const staleMs = 10_000

/**
 * Writes a new text beside a file that exists and renames it, so that a crash leaves the old one.
 * Owner, group and mode stay: the service may only have group access. The new file is also the lock
 * between two commands.
 * @throws ChangedMeanwhile when the file is no longer as `read`, or another command writes it
 * @throws Error when the folder or the file cannot be written; nothing has changed then
 */
export function replaceFile(file: string, text: string, read?: string): void {
  const fresh = `${file}.new`
  const left = statSync(fresh, { throwIfNoEntry: false })
  if (left && systemClock.now() - left.mtimeMs > staleMs) rmSync(fresh, { force: true })
  try {
    writeFileSync(fresh, text, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'EEXIST' ? new ChangedMeanwhile(fresh) : error
  }
  try {
    if (read !== undefined && readFileSync(file, 'utf8') !== read) throw new ChangedMeanwhile(file)
    const { mode, uid, gid } = statSync(file)
    chownSync(fresh, uid, gid)
    chmodSync(fresh, mode & 0o777)
    sync(fresh)
    renameSync(fresh, file)
  } catch (error) {
    rmSync(fresh, { force: true })
    throw error
  }
  syncFolder(file)
}

/**
 * Makes a file that only its owner reads, whole on the disk or not at all.
 * @throws Error when it exists or cannot be written
 */
export function makeFile(file: string, text: string): void {
  const opened = openSync(file, 'wx', 0o600)
  try {
    writeFileSync(opened, text)
    fsyncSync(opened)
  } catch (error) {
    rmSync(file, { force: true })
    throw error
  } finally {
    closeSync(opened)
  }
  syncFolder(file)
}

/** Keeps the name of a file through a power loss, where the file system can. */
function syncFolder(file: string): void {
  try {
    sync(dirname(file))
  } catch {
    // The file is whole, and its name is written soon.
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
