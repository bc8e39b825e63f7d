import { inArray, isNull } from 'drizzle-orm'
import { toHex } from '../../src/kernel/hex.ts'
import { depositOfRef, depositRef } from '../../src/ledger/deposit-ref.ts'
import { auditStore } from '../../src/ledger/store/audit.ts'
import { readWholeLogs } from '../../src/proof/log/store/whole.ts'
import { digestOf, factsOf, isEnded } from '../../src/proof/receipts/receipt.ts'
import type { Db } from '../../src/storage/db/engine/db.ts'
import { runColumns } from '../../src/storage/db/schema/run-columns.ts'
import type { RunRow } from '../../src/storage/db/schema/schema.ts'
import { findFact } from '../../src/storage/db/sql/facts.ts'
import { rows } from '../../src/storage/db/sql/query-steps.ts'
import { leafHash, leafKinds } from '../../src/verify/merkle.ts'
import { faultsOf, pictureOf } from '../ledger/office.ts'
import { eventFaults } from './event-faults.ts'
import { keptFaults } from './kept-faults.ts'
import { type Model, windowIdOf } from './model.ts'
import { holdsInMemory, unheld } from './near.ts'

type Must = (holds: boolean, what: string) => void

/** Everything: each row against the model, the journal against the balances, the log's tree. */
export async function farFaults(db: Db, m: Model): Promise<string[]> {
  const picture = await pictureOf(db)
  const faults = await auditStore(db).faults(Number.MAX_SAFE_INTEGER)
  // A window keeps the cap that it had; what a key may spend now is the model's to compare.
  faults.push(...faultsOf(picture).filter((fault) => !/^window .* limit .* cap /.test(fault)))
  const must: Must = (holds, what) => void (holds || faults.push(what))
  const sums = picture.transfers.filter(({ kind }) => kind === 'run')
  const paid = new Map(sums.map(({ ref, amount }) => [ref, amount]))
  must(paid.size === sums.length, 'a run was paid twice')
  const ended = picture.runs.filter(({ finishedAt }) => finishedAt !== null)
  must(ended.length === m.ended.size, `${ended.length} runs ended, not ${m.ended.size}`)
  for (const { id, cost, digest } of ended) {
    const says = m.ended.get(id)
    must(says === cost && (paid.get(id) ?? 0n) === cost, `run ${id} cost ${cost}, not ${says}`)
    must(digest !== null, `run ${id} ended without a receipt`)
  }
  must(picture.keys.length === m.keys.size, `${picture.keys.length} keys, not ${m.keys.size}`)
  for (const row of picture.keys) {
    const key = m.keys.get(row.id)
    const isAs = [row.revokedAt !== null, row.pausedAt !== null, row.capLimit, row.expiresAt].join()
    const says = [key?.revoked, key?.paused, key?.cap, key?.expiresAt].join()
    must(isAs === says, `key ${row.id} is ${isAs}, not ${says}`)
  }
  const { windows } = holdsInMemory(m)
  for (const { keyId, windowStart, spent, held } of picture.windows) {
    const id = `${keyId}:${windowStart}`
    const purse = m.purses.get(id)
    const says = `${purse?.spent ?? 0n} ${(purse?.held ?? 0n) - unheld(windows, id)}`
    must(
      `${spent} ${held}` === says,
      `window ${keyId}:${windowStart}: ${spent} ${held}, not ${says}`,
    )
  }
  faults.push(...capFaults(m), ...(await depositFaults(db, m)), ...(await planFaults(db, m)))
  faults.push(...(await eventFaults(db, m, picture)), ...(await logFaults(db, ended)))
  faults.push(...(await usageFaults(db, ended)), ...(await keptFaults(db, m)))
  return faults
}

/** No key has taken more than its cap; of an earlier window, that cap may have been a higher one. */
function capFaults(m: Model): string[] {
  return [...m.keys.values()].flatMap((key) => {
    const { spent = 0n, held = 0n } = m.purses.get(windowIdOf(key, 0)) ?? {}
    const isOver = key.window === 'lifetime' && spent + held > key.cap
    return isOver ? [`key ${key.id} has ${spent + held} of its cap ${key.cap}`] : []
  })
}

const states: Record<string, string> = {
  detected: 'waits',
  confirming: 'waits',
  finalized: 'final',
}

/** Each deposit is where the model has it, and was credited once more than it was taken back. */
async function depositFaults(db: Db, m: Model): Promise<string[]> {
  const { deposits, transfers } = db.tables
  const found = await db.read((q) => rows(q.select().from(deposits)))
  const moves = await db.read((q) =>
    rows(
      q
        .select()
        .from(transfers)
        .where(inArray(transfers.kind, ['deposit', 'reversal', 'loss'])),
    ),
  )
  const faults: string[] = []
  for (const row of found) {
    const { id, txHash, status, loss, account, moved } = row
    const known = m.deposits.get(txHash)
    const is = `${states[status] ?? status} ${loss} ${account} ${moved}`
    const says = `${known?.status} ${known?.loss} ${known?.account} ${known?.moved}`
    if (is !== says) faults.push(`deposit ${id} of ${txHash} is ${is}, not ${says}`)
    let credited = 0n
    for (const one of moves) {
      if (depositOfRef(one.ref) !== depositRef(row)) continue
      if (one.source === 'deposits') credited += one.amount
      if (one.target === 'deposits') credited -= one.amount
    }
    const isIn = status === 'credited' || status === 'finalized'
    const amount = isIn ? known?.amount : 0n
    if (credited !== amount) faults.push(`deposit ${id}: ${credited} of ${amount} are credited`)
  }
  if (found.length !== m.deposits.size)
    faults.push(`${found.length} deposits, not ${m.deposits.size}`)
  return faults
}

async function planFaults(db: Db, m: Model): Promise<string[]> {
  const { subscriptions } = db.tables
  const open = isNull(subscriptions.endedAt)
  const found = await db.read((q) => rows(q.select().from(subscriptions).where(open)))
  return [...m.accounts].flatMap(([id, account]) => {
    const own = found.filter(({ accountId }) => accountId === id)
    const is = own.map(
      (one) => `${one.plan} ${one.price} ${one.periodStart} ${one.periodEnd} ${one.nextPlan}`,
    )
    const { paid } = account
    const says = paid
      ? [`${paid.plan} ${paid.price} ${paid.from} ${paid.to} ${paid.next ?? null}`]
      : []
    return is.join() === says.join()
      ? []
      : [`the plan of ${id} is ${is.join()}, not ${says.join()}`]
  })
}

/**
 * Every numbered run has one leaf, which is of its row as it is stored, and so has the price list;
 * no place is left out or used twice.
 */
export async function logFaults(db: Db, ended?: readonly RunRow[]): Promise<string[]> {
  const { runs, logLeaves, unnumberedBatches } = db.tables
  const whole = await readWholeLogs(db)
  const found = await db.read(function* (q) {
    const leaves = yield* rows(q.select().from(logLeaves))
    const all = ended ?? (yield* rows(q.select(runColumns(db)).from(runs)))
    const unnumbered = yield* rows(q.select().from(unnumberedBatches))
    return { leaves, all, unnumbered }
  })
  const receipts = found.leaves.filter(({ kind }) => kind === 0).map(({ idx }) => idx)
  const places = found.all.flatMap(({ logPlace }) => logPlace ?? [])
  const hashes = new Map(found.leaves.map(({ idx, hashes }) => [idx, hashes]))
  const faults = [...whole.faults]
  for (const run of found.all.filter(isEnded)) {
    const digest = digestOf(factsOf(run))
    if (toHex(digest) !== toHex(run.digest)) faults.push(`run ${run.id} has another digest`)
    if (run.logPlace === null) continue
    const leaf = hashes.get(run.logPlace)?.subarray(0, 32) ?? new Uint8Array()
    const isIts = toHex(leaf) === toHex(leafHash(leafKinds.receipt, run.digest))
    if (!isIts) faults.push(`leaf ${run.logPlace} is not that of run ${run.id}`)
  }
  const isSame = receipts.sort((a, b) => a - b).join() === places.sort((a, b) => a - b).join()
  if (!isSame) faults.push(`the log has ${receipts.length} receipts for ${places.length} runs`)
  const waiting = found.all.flatMap(({ id, logPlace }) => (logPlace === null ? [id] : []))
  const count = waiting.length
  if (db.exclusive && count > 0) faults.push(`${count} runs ended without a place in the log`)
  const noted = found.unnumbered.flatMap((batch) => batch.runs).sort()
  if (noted.join() !== waiting.sort().join()) faults.push(`${noted} wait, not ${waiting}`)
  return faults
}

/** What is summed up of the log, as far as it was counted, is what its runs cost. */
async function usageFaults(db: Db, ended: readonly RunRow[]): Promise<string[]> {
  const cursor = Number((await findFact(db, 'usage.cursor')) ?? 0)
  const days = await db.read((q) => rows(q.select().from(db.tables.usageDays)))
  const logged = ended.filter(({ logPlace }) => logPlace !== null && logPlace < cursor)
  const sumsOf = (all: readonly { accountId: string; cost: bigint; runs: number }[]): string => {
    const sums = new Map<string, { cost: bigint; runs: number }>()
    for (const one of all) {
      const { cost, runs } = sums.get(one.accountId) ?? { cost: 0n, runs: 0 }
      sums.set(one.accountId, { cost: cost + one.cost, runs: runs + one.runs })
    }
    return [...sums]
      .map(([id, { cost, runs }]) => `${id}: ${runs} runs, ${cost}`)
      .sort()
      .join()
  }
  const [is, says] = [sumsOf(days), sumsOf(logged.map((run) => ({ ...run, runs: 1 })))]
  return is === says ? [] : [`the usage that is summed up is ${is}, not ${says}`]
}
