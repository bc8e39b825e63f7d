/** The folder of an exported log: each file is there whole, or not at all. */
import { mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { LogFolder } from '../export-log.ts'

/** Opens a folder, which is made when its first file is; `name` is unique to this process. */
export function logFolder(folder: string, name: string): LogFolder {
  return {
    read: async (path) => {
      try {
        return await readFile(join(folder, path))
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException
        if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
        throw error
      }
    },
    has: (path, bytes) => statSync(join(folder, path), { throwIfNoEntry: false })?.size === bytes,
    write: (path, bytes) => {
      const file = join(folder, path)
      mkdirSync(dirname(file), { recursive: true })
      // Not synced: all files are read again before the checkpoint says that they are there, and by
      // the next export too.
      const fresh = `${file}.${name}`
      try {
        writeFileSync(fresh, bytes)
        renameSync(fresh, file)
      } catch (error) {
        rmSync(fresh, { force: true })
        throw error
      }
    },
    dropNarrow: (path) => rmSync(join(folder, `${path}.p`), { recursive: true, force: true }),
  }
}
