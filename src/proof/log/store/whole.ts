/** Recomputes every log of a database from its leaves. */
import { and, asc, eq, gt, gte, lt } from 'drizzle-orm'
import { toHex } from '../../../kernel/hex.ts'
import type { Db } from '../../../storage/db/db.ts'
import { findFact } from '../../../storage/db/facts.ts'
import { rows } from '../../../storage/db/query-steps.ts'
import type { CheckpointRow } from '../../../storage/db/schema.ts'
import { type LogSpan, logsOf } from '../logs.ts'
import { grow, rootOf } from '../tree.ts'
import { sizeFact } from './leaf.ts'

/** Leaves read in one step. */
const pageRows = 2000

/** A log recomputed from its leaves. */
export type WholeLog = { origin: string; size: number; root: string }

/** Each log with its root, and the faults found. */
export type WholeLogs = { logs: WholeLog[]; faults: string[] }

/**
 * Recomputes every log from the hashes of its leaves and compares the stored subtrees, its size and
 * every signed root. Reads every leaf.
 */
export async function readWholeLogs(db: Db): Promise<WholeLogs> {
  const { logs, logCheckpoints } = db.tables
  const known = await db.read((q) => rows(q.select().from(logs).orderBy(asc(logs.number))))
  const found: WholeLogs = { logs: [], faults: [] }
  if (known.length === 0) return found
  const { all, current } = logsOf(known)
  for (const log of all) {
    const ofLog = eq(logCheckpoints.issuer, log.origin)
    const signed = await db.read((q) => rows(q.select().from(logCheckpoints).where(ofLog)))
    found.logs.push(await readLog(db, log, signed, found.faults))
  }
  const size = Number((await findFact(db, sizeFact)) ?? 0)
  const last = found.logs.at(-1)
  if (last && last.size !== size) {
    found.faults.push(`the log ${current.origin} has ${last.size} leaves, not ${size}`)
  }
  return found
}

async function readLog(
  db: Db,
  { origin, start, end }: LogSpan,
  signed: CheckpointRow[],
  faults: string[],
): Promise<WholeLog> {
  const { logLeaves: leaves } = db.tables
  const roots = new Map(signed.map((checkpoint) => [checkpoint.size, toHex(checkpoint.root)]))
  const peaks: Uint8Array[] = []
  let size = 0
  for (let isOver = false; !isOver; ) {
    const next = size === 0 ? gte(leaves.idx, start) : gt(leaves.idx, start + size - 1)
    const within = and(next, end === null ? undefined : lt(leaves.idx, end))
    const page = await db.read((q) =>
      rows(q.select().from(leaves).where(within).orderBy(asc(leaves.idx)).limit(pageRows)),
    )
    for (const { idx, hashes } of page) {
      if (idx !== start + size) faults.push(`the log ${origin} lacks its leaf ${size}`)
      const grown = grow(peaks, size, hashes.slice(0, 32))
      if (toHex(grown) !== toHex(hashes))
        faults.push(`leaf ${size} of ${origin} has other subtrees`)
      size++
      const root = roots.get(size)
      if (root === undefined) continue
      roots.delete(size)
      if (toHex(rootOf({ size, peaks })) !== root) {
        faults.push(`the root of ${origin} at ${size} leaves is not the one that was signed`)
      }
    }
    isOver = page.length < pageRows
  }
  for (const beyond of roots.keys()) faults.push(`${origin} was signed with ${beyond} leaves`)
  return { origin, size, root: toHex(rootOf({ size, peaks })) }
}
