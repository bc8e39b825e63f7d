/** Keeps the known heads of logs in `heads.json` of the data folder. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fromHex, toHex } from '../../../kernel/hex.ts'
import { StorageFault } from '../../../kernel/storage-fault.ts'
import { replaceFile } from '../../../storage/db/files/whole-file.ts'
import type { CheckpointRow } from '../../../storage/db/schema/schema.ts'
import type { HeadFile } from '../heads.ts'

export const headPathOf = (folder: string): string => join(folder, 'heads.json')

/**
 * Several processes may share the file: heads that others wrote stay. `name` is unique to this
 * process.
 * @throws Error that names the file and what to do if it cannot be read.
 */
export function openHeadFile(folder: string, name: string): HeadFile {
  const path = headPathOf(folder)
  const heads = readHeads(path)
  let wanted: readonly CheckpointRow[] = heads
  let writing: Promise<void> | undefined
  let next: Promise<void> | undefined

  const write = async (): Promise<void> => {
    const merged = mergeHeads([...readHeads(path), ...wanted])
    const text = JSON.stringify({ version: 1, heads: merged.map(toText) }, undefined, 1)
    await replaceFile(path, `${text}\n`, `new-${name}`).catch((error: unknown) => {
      throw faultOf(error)
    })
  }
  // One write at a time; heads that come during one share the next.
  const flush = (): Promise<void> => {
    if (!writing) {
      writing = write().finally(() => {
        writing = undefined
      })
      return writing
    }
    next ??= writing
      .catch(() => {})
      .then(() => {
        next = undefined
        return flush()
      })
    return next
  }

  return {
    path,
    heads,
    keep(added) {
      wanted = mergeHeads([...wanted, ...added])
      return flush()
    },
  }
}

/** The fault of a folder that cannot be written; nothing may be signed then. */
function faultOf(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const cause = { cause: error }
  if (code === 'ENOSPC' || code === 'EDQUOT') return new StorageFault('storage_full', code, cause)
  const isForbidden = code === 'EROFS' || code === 'EACCES' || code === 'EPERM'
  return isForbidden ? new StorageFault('storage_read_only', code, cause) : error
}

/** The newest heads kept per log: enough to find one that a restored database still has. */
const keptMax = 64

/** Groups heads by log in order of appearance, by size within a log, without duplicates. */
export function mergeHeads(heads: readonly CheckpointRow[]): CheckpointRow[] {
  const byIssuer = new Map<string, Map<string, CheckpointRow>>()
  for (const head of heads) {
    const known = byIssuer.get(head.issuer) ?? new Map<string, CheckpointRow>()
    const name = `${head.size} ${toHex(head.root)}`
    if (!known.has(name)) known.set(name, head)
    byIssuer.set(head.issuer, known)
  }
  return [...byIssuer.values()].flatMap((known) =>
    [...known.values()].sort((a, b) => a.size - b.size).slice(-keptMax),
  )
}

/** @throws Error that names the file and what to do. */
function readHeads(path: string): CheckpointRow[] {
  if (!existsSync(path)) return []
  try {
    const read = JSON.parse(readFileSync(path, 'utf8')) as { version: unknown; heads: unknown[] }
    if (read.version !== 1) throw new Error('unknown version')
    return read.heads.map(fromText)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    const what = 'which detects a database that went back to an earlier state'
    throw new Error(`${path}, ${what}, cannot be read (${why}); restore or delete the file`)
  }
}

const isHex = (value: unknown, bytes: number): value is string =>
  typeof value === 'string' && value.length === 2 + 2 * bytes

const toText = ({ issuer, size, root, timestamp, signature }: CheckpointRow) => ({
  issuer,
  size,
  root: toHex(root),
  timestamp,
  signature: toHex(signature),
})

function fromText(value: unknown): CheckpointRow {
  const { issuer, size, root, timestamp, signature } = value as Record<string, unknown>
  const isWhole = (count: unknown): count is number => Number.isSafeInteger(count)
  if (
    typeof issuer !== 'string' ||
    !isWhole(size) ||
    !isWhole(timestamp) ||
    !isHex(root, 32) ||
    !isHex(signature, 65)
  ) {
    throw new Error('an entry is not a head')
  }
  return { issuer, size, root: fromHex(root), timestamp, signature: fromHex(signature) }
}
