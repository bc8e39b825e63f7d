/** Keeps signed heads that contradict each other as files, for people and their lawyers. */
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { sha256Hex } from '../../../kernel/hash.ts'
import { syncFolder, writeSynced } from '../../../storage/db/files/whole-file.ts'
import type { Fork } from '../witness.ts'

/** The most files: a log that signs forks without end fills no disk. */
const maxFiles = 1000

/** Writes forks into a folder, each once; tells the file, or undefined when there are too many. */
export const forkFiles =
  (folder: string) =>
  (fork: Fork): string | undefined => {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    // The name comes from both notes: the same fork, shown again, makes no second file.
    const name = `fork-${sha256Hex(`${fork.signed}\n${fork.shown}`).slice(0, 32)}.json`
    const path = join(folder, name)
    if (existsSync(path)) return path
    if (readdirSync(folder).length >= maxFiles) return undefined
    writeSynced(path, Buffer.from(`${JSON.stringify(fork, null, 2)}\n`))
    syncFolder(path)
    return path
  }
