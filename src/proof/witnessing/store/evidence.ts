/** Keeps signed heads that contradict each other as files, for people and their lawyers. */
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { sha256Hex } from '../../../kernel/hash.ts'
import { syncFolder, writeSynced } from '../../../storage/db/whole-file.ts'

/** Two heads of a log that a witness was shown, and what was to lead from one to the other. */
export type Fork = {
  type: 'counterfoil.fork'
  version: '1'
  origin: string
  /** RFC 3339. */
  found_at: string
  /** Whether the two notes alone prove it: one size, two roots, both signed by the log. */
  is_proof: boolean
  /** The note that the witness signed, with its cosignature. */
  signed: string
  /** The note that it was shown later and refused. */
  shown: string
  old: string
  path: string[]
}

/** The most files: a log that signs forks without end fills no disk. */
const maxFiles = 1000

/** Writes forks into a folder, each once; tells the file, or undefined when there are too many. */
export const forkFiles =
  (folder: string) =>
  (fork: Fork): string | undefined => {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    // Named by both notes: who shows the same fork again makes no second file.
    const name = `fork-${sha256Hex(`${fork.signed}\n${fork.shown}`).slice(0, 32)}.json`
    const path = join(folder, name)
    if (existsSync(path)) return path
    if (readdirSync(folder).length >= maxFiles) return undefined
    writeSynced(path, Buffer.from(`${JSON.stringify(fork, null, 2)}\n`))
    syncFolder(path)
    return path
  }
