/**
 * `bun bench/log.ts [leaves…]`: the Merkle log on SQLite, in process: what an append, a proof, its
 * check and a consistency path cost, and the bytes of a receipt's place, at several sizes.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../src/kernel/clock.ts'
import { signCheckpoint } from '../src/proof/log/checkpoint.ts'
import { consistencyOf, proofOf } from '../src/proof/log/proof.ts'
import { emptyFrontier } from '../src/proof/log/tree.ts'
import { openSqlite } from '../src/storage/db/engine/sqlite.ts'
import { migrateSqlite } from '../src/storage/db/schema/migrate.ts'
import { checkLog } from '../src/verify/check-log.ts'
import { useWasmKeccak } from '../src/verify/fast/keccak-wasm.ts'
import { costOf, growLog, issuer, logPartsOf } from './log-parts.ts'

const given = Bun.argv.slice(2).map(Number)
const sizes = (given.length > 0 ? given : [1000, 10_000, 100_000, 1_000_000]).sort((a, b) => a - b)
const asked = 2000

useWasmKeccak()
const folder = mkdtempSync(join(tmpdir(), 'counterfoil-log-'))
const file = join(folder, 'counterfoil.db')
const db = openSqlite(file)
migrateSqlite(db.raw, systemClock.now(), () => {})
const deps = logPartsOf(db)
const digests: Uint8Array[] = []

console.log('   leaves  append µs  bytes/leaf  proof µs  proofs/s  path  file B  check µs  path µs')
let frontier = emptyFrontier
for (const size of sizes) {
  const before = { size: frontier.size, bytes: bytesOfLog() }
  const appendUs = await costOf(size - before.size, () => growTo(size))
  const bytesPerLeaf = (bytesOfLog() - before.bytes) / (size - before.size)
  const indices = Array.from({ length: asked }, () => Math.floor(Math.random() * size))
  await signCheckpoint(deps)
  const first = await proofAt(0)
  const proofs = await Promise.all(indices.slice(0, 50).map(proofAt))
  const proofUs = await costOf(asked, async () => {
    for (const index of indices) await proofAt(index)
  })
  const checkUs = await costOf(proofs.length, async () => {
    for (const proof of proofs) {
      const digest = digests[Number(proof.index)] ?? new Uint8Array()
      const receipt = { id: 'rcpt', issuer, digest }
      const { index } = checkLog(receipt, { proof }, [{ address: deps.signer.address }], false)
      if (index === undefined) throw new Error('a proof does not hold')
    }
  })
  const pathUs = await costOf(asked, async () => {
    for (const index of indices) await consistencyOf(deps, index + 1, size)
  })
  const cells = [
    [size, 9],
    [appendUs.toFixed(2), 11],
    [bytesPerLeaf.toFixed(0), 12],
    [proofUs.toFixed(1), 10],
    [(1e6 / proofUs).toFixed(0), 10],
    [first.path.length, 6],
    [JSON.stringify(first).length, 8],
    [checkUs.toFixed(0), 10],
    [pathUs.toFixed(1), 9],
  ] as const
  console.log(cells.map(([value, width]) => String(value).padStart(width)).join(''))
}
await db.close()
rmSync(folder, { recursive: true, force: true })

function proofAt(index: number) {
  return proofOf(deps, { id: 'rcpt', issuer, index })
}

async function growTo(size: number): Promise<void> {
  frontier = await growLog(db, frontier, size, (leaves) => digests.push(...leaves))
}

function bytesOfLog(): number {
  db.raw.run('PRAGMA wal_checkpoint(TRUNCATE)')
  return statSync(file).size
}
