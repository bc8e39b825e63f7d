/**
 * `bun bench/log-size.ts <grown database> <empty database> [rounds]`: what an append and a proof
 * cost in a log of 10^6 leaves, and in one of 10^3.
 */

import { systemClock } from '../src/kernel/clock.ts'
import { signCheckpoint } from '../src/proof/log/checkpoint.ts'
import { proofOf } from '../src/proof/log/proof.ts'
import { openSqlite } from '../src/storage/db/engine/sqlite.ts'
import { migrateSqlite } from '../src/storage/db/schema/migrate.ts'
import { useWasmKeccak } from '../src/verify/fast/keccak-wasm.ts'
import { batch, costOf, growLog, issuer, logPartsOf, readEdge } from './log-parts.ts'
import { middle } from './table.ts'

const [grownFile = '', smallFile = '', rounds = '5'] = Bun.argv.slice(2)
const smallSize = 1000
const batches = 40
const proofs = 2000

useWasmKeccak()
const open = async (name: string, file: string) => {
  const db = openSqlite(file)
  migrateSqlite(db.raw, systemClock.now(), () => {})
  const edge = await readEdge(db)
  const frontier = await growLog(db, edge, Math.max(edge.size, smallSize))
  const deps = logPartsOf(db)
  await signCheckpoint(deps)
  return { name, db, deps, size: frontier.size, frontier, appends: [0], proofs: [0] }
}
type Log = Awaited<ReturnType<typeof open>>
const logs = [await open('small', smallFile), await open('grown', grownFile)]

/** Proofs first: what is appended afterwards makes the small log a larger one. */
for (let round = 0; round < Number(rounds) + 1; round++) {
  for (const log of logs) note(log.proofs, round, await costOf(proofs, () => prove(log)))
}
for (let round = 0; round < Number(rounds) + 1; round++) {
  for (const log of logs) {
    const cost = await costOf(batch * batches, async () => {
      log.frontier = await growLog(log.db, log.frontier, log.frontier.size + batch * batches)
    })
    note(log.appends, round, cost)
  }
}
const [small, grown] = logs.map(({ name, size, appends, proofs }) => {
  const found = { append: middle(appends), proof: middle(proofs) }
  console.error(
    `  ${name} ${size}: append ${found.append.toFixed(2)} µs, proof ${found.proof.toFixed(1)} µs`,
  )
  return found
})
if (!small || !grown) throw new Error('two logs are compared')
const shares = { append: grown.append / small.append, proof: grown.proof / small.proof }
console.log(JSON.stringify(shares))
for (const { db } of logs) await db.close()

async function prove({ deps, size }: Log): Promise<void> {
  for (let i = 0; i < proofs; i++) {
    const index = Math.floor(Math.random() * size)
    await proofOf(deps, { id: 'rcpt', issuer, index })
  }
}

/** The first round is for the compilers. */
function note(costs: number[], round: number, cost: number): void {
  if (round === 0) costs.length = 0
  else costs.push(cost)
}
