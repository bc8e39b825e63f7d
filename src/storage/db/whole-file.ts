import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Writes all of it: on a full disk or at a quota a part is written without an error. */
export function writeWhole(file: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at)
}

/**
 * Makes a file (0600) with these bytes, on the disk when this returns. With `wx` it must not exist.
 * @throws what the file system says; a file that was opened and not finished is deleted.
 */
export function writeSynced(path: string, bytes: Uint8Array, flag: 'w' | 'wx' = 'wx'): void {
  const file = openSync(path, flag, 0o600)
  try {
    writeWhole(file, bytes)
    fsyncSync(file)
  } catch (error) {
    // Half a file in its place would be taken for a whole one.
    rmSync(path, { force: true })
    throw error
  } finally {
    closeSync(file)
  }
}

/**
 * Puts a file (0600) in the place of `path`: a crash leaves the old one or the new one, whole. The
 * event loop goes on meanwhile. `name` is of this process alone, so that two never write into each
 * other's.
 */
export async function replaceFile(path: string, text: string, name: string): Promise<void> {
  const beside = `${path}.${name}`
  const file = await open(beside, 'w', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(beside, path)
  syncFolder(path)
}

/**
 * Makes a new name in the folder of `path` last: it is on the disk only when the folder is.
 * @throws what a disk says that fails, not what says that folders cannot be synced at all.
 */
export function syncFolder(path: string): void {
  try {
    const folder = openSync(dirname(path), 'r')
    try {
      fsyncSync(folder)
    } finally {
      closeSync(folder)
    }
  } catch (error) {
    // A failure of the disk is none of these.
    if (!(error instanceof Error && 'code' in error && unsynced.has(error.code))) throw error
  }
}

/** What Windows and some file systems say where folders cannot be opened or synced at all. */
const unsynced = new Set<unknown>(['EACCES', 'EINVAL', 'EISDIR', 'ENOSYS', 'ENOTSUP', 'EPERM'])
