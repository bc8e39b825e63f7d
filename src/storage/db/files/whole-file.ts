/** Writes files that are whole and on the disk, or not there at all. */
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Writes all bytes: near a full disk or a quota one call writes a part without an error. */
export function writeWhole(file: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at)
}

/**
 * Creates a file (0600), synced to the disk on return. With `wx` it must not exist.
 * @throws the error of the file system, after it deleted an unfinished file.
 */
export function writeSynced(path: string, bytes: Uint8Array, flag: 'w' | 'wx' = 'wx'): void {
  const file = openSync(path, flag, 0o600)
  try {
    writeWhole(file, bytes)
    fsyncSync(file)
  } catch (error) {
    // Half a file would be taken for a whole one.
    rmSync(path, { force: true })
    throw error
  } finally {
    closeSync(file)
  }
}

/**
 * Replaces `path` by a file (0600) atomically: a crash leaves the old one or the new one, whole.
 * `name` is unique to this process, so that two never write to the same temporary file.
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
 * Syncs the folder of `path`, without which a crash can lose a new name. @throws the error of a
 * failing disk; file systems that cannot sync folders are ignored.
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
    if (!(error instanceof Error && 'code' in error && unsynced.has(error.code))) throw error
  }
}

/** Error codes of systems that cannot open or sync folders. */
const unsynced = new Set<unknown>(['EACCES', 'EINVAL', 'EISDIR', 'ENOSYS', 'ENOTSUP', 'EPERM'])
