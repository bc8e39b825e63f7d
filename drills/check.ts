/** Reads the runs of a key and verifies their receipts, as a client would. */
import type { FullReceipt } from '../src/verify/receipt.ts'
import type { Server } from '../test/support/binary.ts'

export type Run = {
  id: string
  status: string
  outcome: string
  cost_nusd: number
  hold_nusd: number
  receipt_id: string | null
  tags: Record<string, string>
}

/** Newest first; down to the run `known`, where one is named. @throws Error if one comes twice. */
export async function allRuns(server: Server, key: string, known = ''): Promise<Map<string, Run>> {
  const runs = new Map<string, Run>()
  for (let after = ''; ; ) {
    const answer = await server.call(`/v1/runs?limit=100${after}`, { key })
    const page = (await answer.json()) as { data: Run[]; has_more: boolean; last_id: string }
    for (const run of page.data) {
      if (runs.has(run.id)) throw new Error(`${run.id} is listed twice`)
      runs.set(run.id, run)
    }
    if (!page.has_more || page.last_id <= known) return runs
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
