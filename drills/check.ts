import type { FullReceipt } from '../src/verify/receipt.ts'
import type { Server } from '../test/support/binary.ts'
import type { Seen } from './load.ts'

export type Run = {
  id: string
  status: string
  outcome: string
  cost_nusd: number
  hold_nusd: number
  receipt_id: string | null
}

/** What a check found, and what it looked at. */
export type Checked = { faults: string[]; runs: Map<string, Run> }

/** Receipts that are fetched and verified in one check, at most. */
const mostReceipts = 60

/**
 * Whether a server that was just started holds what its clients hold: nothing lost, nothing
 * charged twice, nothing held, no run open, and each end has its receipt.
 */
export async function check(
  server: Server,
  key: string,
  seen: Seen,
  granted: number,
): Promise<Checked> {
  const faults: string[] = []
  const claim = (isTrue: boolean, fault: string): void => void (isTrue || faults.push(fault))
  const get = async <T>(path: string) => (await (await server.call(path, { key })).json()) as T

  const status = await get<{ status: string; ledger: string }>('/v1/status')
  claim(status.status === 'ok', `status is ${status.status}`)
  claim(status.ledger === 'balanced', `the ledger is ${status.ledger}`)

  const runs = await allRuns(server, key)
  let costs = 0
  for (const run of runs.values()) {
    costs += run.cost_nusd
    claim(run.cost_nusd <= run.hold_nusd, `${run.id} cost more than its hold`)
    claim(run.receipt_id !== null, `${run.id} is ${run.status} without a receipt`)
    if (run.status === 'interrupted') claim(run.cost_nusd === 0, `${run.id} was charged`)
    else claim(run.status === 'succeeded', `${run.id} is ${run.status}`)
  }
  const balance = await get<{ balance_nusd: number; held_nusd: number }>('/v1/balance')
  claim(balance.held_nusd === 0, `${balance.held_nusd} nUSD are held`)
  claim(balance.balance_nusd === granted - costs, `${balance.balance_nusd} ≠ ${granted} − ${costs}`)
  const { cap } = await get<{ cap: { spent_nusd: number; held_nusd: number } }>('/v1/keys/self')
  claim(cap.spent_nusd === costs, `the key spent ${cap.spent_nusd}, its runs cost ${costs}`)
  claim(cap.held_nusd === 0, `${cap.held_nusd} nUSD of the cap are held`)

  for (const [id, promised] of seen.begun) {
    const run = runs.get(id)
    claim(run !== undefined, `${id} was begun and is not there`)
    const isKept = promised === undefined || run?.receipt_id === promised
    claim(isKept, `${id} was promised the receipt ${promised}`)
  }
  for (const [receiptId, { runId, cost }] of seen.paid) {
    const run = runs.get(runId)
    claim(run?.status === 'succeeded', `${runId} was answered and is ${run?.status}`)
    claim(run?.cost_nusd === cost, `${runId} cost ${cost} and then ${run?.cost_nusd}`)
    claim(run?.receipt_id === receiptId, `${runId} has another receipt than its client`)
  }
  for (const run of [...runs.values()].slice(0, mostReceipts)) {
    const fault = await receiptFault(server, key, run)
    if (fault) faults.push(fault)
  }
  return { faults, runs }
}

export async function allRuns(server: Server, key: string): Promise<Map<string, Run>> {
  const runs = new Map<string, Run>()
  for (let after = ''; ; ) {
    const answer = await server.call(`/v1/runs?limit=100${after}`, { key })
    const page = (await answer.json()) as { data: Run[]; has_more: boolean; last_id: string }
    for (const run of page.data) {
      if (runs.has(run.id)) throw new Error(`${run.id} is listed twice`)
      runs.set(run.id, run)
    }
    if (!page.has_more) return runs
    after = `&after=${page.last_id}`
  }
}

/** What is wrong with the receipt of a run, newest runs first; undefined when it verifies. */
export async function receiptFault(
  server: Server,
  key: string,
  run: Run,
): Promise<string | undefined> {
  const answer = await server.call(`/v1/receipts/${run.receipt_id}`, { key })
  if (answer.status !== 200) return `the receipt of ${run.id}: ${answer.status}`
  const file = (await answer.json()) as { receipt: FullReceipt }
  const { outcome } = file.receipt.run
  const { amount } = file.receipt.charge
  if (outcome !== run.outcome) return `the receipt of ${run.id} says ${outcome}`
  if (amount !== String(run.cost_nusd)) return `the receipt of ${run.id} says ${amount} nUSD`
  const verdict = (await (await server.call('/v1/receipts/verify', { json: file })).json()) as {
    valid: boolean
  }
  return verdict.valid ? undefined : `the receipt of ${run.id} is not valid`
}
