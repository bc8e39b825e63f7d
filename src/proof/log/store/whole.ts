/** Recomputes every log of a database from the digests of its leaves. */
import { and, asc, eq, gt, lte } from 'drizzle-orm'
import { toHex } from '../../../kernel/hex.ts'
import type { Db } from '../../../storage/db/engine/db.ts'
import { findFact } from '../../../storage/db/sql/facts.ts'
import { rows } from '../../../storage/db/sql/query-steps.ts'
import { isEqualBytes } from '../../../verify/merkle.ts'
import { type LogSpan, logsOf } from '../logs.ts'
import { grow, hashLeaf, LeafDamage, rootOf } from '../tree.ts'
import { digestOf, entryReader, type StoredEntry } from './entries.ts'
import { sizeFact } from './leaf.ts'

/** Leaves read in one step. */
const pageRows = 2000

/** A log recomputed from its leaves. */
export type WholeLog = { origin: string; size: number; root: string }

/** Each log with its root, and the faults found. */
export type WholeLogs = { logs: WholeLog[]; faults: string[] }

/**
 * Recomputes every log and compares the stored hashes and subtrees, its size and every signed root.
 * Reads every leaf. The log may grow meanwhile.
 */
export async function readWholeLogs(db: Db, needsDigests = false): Promise<WholeLogs> {
  const { logs } = db.tables
  const known = await db.read((q) => rows(q.select().from(logs).orderBy(asc(logs.number))))
  const found: WholeLogs = { logs: [], faults: [] }
  if (known.length === 0) return found
  const { all, current } = logsOf(known)
  const before = Number((await findFact(db, sizeFact)) ?? 0)
  for (const log of all) {
    const beyond = await signedBeyond(db, log)
    const reading = logReading(db, log, needsDigests)
    for (let isOver = false; !isOver; ) {
      const page = await reading.next(pageRows)
      found.faults.push(...page.faults.map(({ words }) => words))
      isOver = page.isOver
    }
    const { size, root } = reading.state()
    found.logs.push({ origin: log.origin, size, root: toHex(root) })
    for (const signed of beyond) {
      if (signed > size) found.faults.push(`${log.origin} was signed with ${signed} leaves`)
    }
  }
  const after = Number((await findFact(db, sizeFact)) ?? 0)
  const last = found.logs.at(-1)
  if (last && (last.size < before || last.size > after)) {
    found.faults.push(`the log ${current.origin} has ${last.size} leaves, not ${after}`)
  }
  return found
}

/** A fault of a log: a damaged leaf, or a signed root that its leaves do not have. */
export type LogFault = { leaf: number; how: string; words: string }

/** A reading of a log from its first leaf on, page by page. */
export type LogReading = {
  /** Reads so many leaves more; over when there were fewer, and where one is missing. */
  next(count: number): Promise<{ faults: LogFault[]; isOver: boolean }>
  /** The size and root of what was read. */
  state(): { size: number; root: Uint8Array }
}

/** With `needsDigests` a leaf is damaged too if the row that was logged is gone. */
export function logReading(db: Db, log: LogSpan, needsDigests: boolean): LogReading {
  const { logCheckpoints: heads } = db.tables
  const readEntries = entryReader(db)
  const peaks: Uint8Array[] = []
  let size = 0

  /** Takes one leaf by its digest, so that a wrong hash is the fault of no other leaf. */
  const take = (entry: StoredEntry): LogFault | undefined => {
    const leaf = size
    let hash: Uint8Array = entry.hashes.slice(0, 32)
    let fault: LogFault | undefined
    try {
      hash = hashLeaf(entry.kind, digestOf(entry, log))
    } catch (error) {
      if (!(error instanceof LeafDamage)) throw error
      if (entry.digest) hash = hashLeaf(entry.kind, entry.digest)
      if (entry.digest || needsDigests) fault = faultOf(log, leaf, error.how)
    }
    const grown = grow(peaks, size++, hash)
    if (fault || isEqualBytes(grown, entry.hashes)) return fault
    return faultOf(log, leaf, 'it has other subtrees')
  }

  /** Roots by size that were signed of the leaves of a page. */
  const signedIn = async (from: number, to: number) => {
    const within = and(eq(heads.issuer, log.origin), gt(heads.size, from), lte(heads.size, to))
    const found = await db.read((q) =>
      rows(q.select({ size: heads.size, root: heads.root }).from(heads).where(within)),
    )
    return new Map(found.map((head) => [head.size, head.root]))
  }

  return {
    async next(count) {
      const page = await db.read((q) => readEntries(q, log, { from: size, count }))
      const roots = await signedIn(size, size + page.length)
      const faults: LogFault[] = []
      for (const entry of page) {
        if (entry.idx !== log.start + size) {
          const words = `the log ${log.origin} lacks its leaf ${size}`
          faults.push({ leaf: size, how: 'it is missing', words })
          return { faults, isOver: true }
        }
        const fault = take(entry)
        if (fault) faults.push(fault)
        const root = roots.get(size)
        if (!root || isEqualBytes(rootOf({ size, peaks }), root)) continue
        const how = `the root at ${size} leaves is not the one that was signed`
        const words = `the root of ${log.origin} at ${size} leaves is not the one that was signed`
        faults.push({ leaf: size - 1, how, words })
      }
      return { faults, isOver: page.length < count }
    },
    state: () => ({ size, root: rootOf({ size, peaks }) }),
  }
}

const faultOf = ({ origin }: LogSpan, leaf: number, how: string): LogFault => ({
  leaf,
  how,
  words: `leaf ${leaf} of ${origin} is damaged: ${how}`,
})

/** The sizes of all heads that were signed of a log. */
async function signedBeyond(db: Db, { origin }: LogSpan): Promise<number[]> {
  const { logCheckpoints: heads } = db.tables
  const ofLog = eq(heads.issuer, origin)
  const found = await db.read((q) => rows(q.select({ size: heads.size }).from(heads).where(ofLog)))
  return found.map((head) => head.size)
}
