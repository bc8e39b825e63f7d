import { newHealth } from '../src/front/status/health.ts'
import { systemClock } from '../src/kernel/clock.ts'
import { systemRandom } from '../src/kernel/random.ts'
import { openAnchoring } from '../src/proof/anchors/anchoring.ts'
import { anchorStore } from '../src/proof/anchors/store.ts'
import { makeHeads } from '../src/proof/log/heads.ts'
import { logsOf } from '../src/proof/log/logs.ts'
import { checkpointStore } from '../src/proof/log/store/checkpoint.ts'
import { headStore } from '../src/proof/log/store/head.ts'
import { readFrontier } from '../src/proof/log/store/leaf.ts'
import { logStore } from '../src/proof/log/store.ts'
import { append, type Frontier } from '../src/proof/log/tree.ts'
import { type Signer, signerFromHex } from '../src/proof/signer/signer.ts'
import type { Db } from '../src/storage/db/engine/db.ts'
import { writeFact } from '../src/storage/db/sql/facts.ts'
import { insert } from '../src/storage/db/sql/query-steps.ts'
import { usageOf } from './processes.ts'

export const issuer = 'http://localhost:4663'
/** As many leaves as share a transaction under load. */
export const batch = 128

const random = systemRandom()
const log = { debug() {}, info() {}, warn() {}, error: console.error }
const policy = { minReceipts: 1, maxDelayMs: 1, minIntervalMs: 1 }
const off = { chain: undefined, sender: undefined, configured: undefined }

/** What proofs and checkpoints of one database are made by, and a signer of its own for them. */
export function logPartsOf(db: Db) {
  const stores = {
    logs: logsOf([{ origin: issuer, start: 0, openedAt: 0, reason: '' }]),
    logStore: logStore(db, { clock: systemClock, node: 'bench', start: 0 }),
    checkpoints: checkpointStore(db, { wasSignedAgain: () => false }),
    anchors: anchorStore(db, { clock: systemClock, node: 'bench' }),
    clock: systemClock,
  }
  const signer: Signer = signerFromHex(Buffer.from(random.bytes(32)).toString('hex'))
  const anchoring = openAnchoring(stores, { ...off, policy })
  const health = newHealth(systemClock)
  // Nothing is known of a log that grows here first.
  health.heads = 'ok'
  const around = { health, log, store: headStore(db), settings: { nodes: 1 }, distrust: () => {} }
  const heads = makeHeads({ ...stores, ...around, leaseClock: systemClock })
  return { ...stores, anchoring, heads, health, signer, log }
}

export const readEdge = (db: Db): Promise<Frontier> => db.write((q) => readFrontier(db, q, 0))

/** Appends a batch of leaves in one transaction with its fsync, as the ledger does. */
export function appendLeaves(db: Db, at: Frontier, leaves: Uint8Array[]): Promise<Frontier> {
  return db.write(function* () {
    const kind = 0 as const
    const grown = append(
      at,
      leaves.map((digest) => ({ kind, digest })),
    )
    yield* insert(db.tables.logLeaves, grown.stored)
    yield* writeFact(db, 'log.size', String(grown.frontier.size))
    return grown.frontier
  })
}

/** Appends random leaves, `batch` a transaction, and tells of each. */
export async function growLog(
  db: Db,
  at: Frontier,
  size: number,
  tell: (leaves: Uint8Array[]) => void = () => {},
): Promise<Frontier> {
  let frontier = at
  while (frontier.size < size) {
    const count = Math.min(batch, size - frontier.size)
    const leaves = Array.from({ length: count }, () => random.bytes(32))
    frontier = await appendLeaves(db, frontier, leaves)
    tell(leaves)
  }
  return frontier
}

/** µs of this process's CPU a piece. */
export async function costOf(pieces: number, work: () => Promise<void>): Promise<number> {
  const before = usageOf(process.pid).cpuUs
  await work()
  return (usageOf(process.pid).cpuUs - before) / pieces
}
