/** Lists the receipts that a restored database lost. */
import type { Deps } from '../../app/deps-port.ts'
import { toRfc3339 } from '../../kernel/clock.ts'
import { type Hex, toHex } from '../../kernel/hex.ts'
import { receiptIdOf } from './receipt.ts'

/** A receipt whose client holds it and was charged, and of which the database knows nothing. */
export type LostReceipt = {
  receipt_id: string
  run_id: string
  digest: Hex
  cost_nusd: number
  finished_at: string
}

/**
 * Compares what this process acknowledged with a database that went back to an earlier state, and
 * has what is gone listed.
 * @param write keeps the list and returns where it is; absent where nothing outlives the process.
 * @throws what the database or `write` throws.
 */
export async function listLost(
  { acknowledged, runs, log }: Pick<Deps, 'acknowledged' | 'runs' | 'log'>,
  write: ((lost: LostReceipt[]) => Promise<string>) | undefined,
): Promise<void> {
  const known = acknowledged.all()
  const stored = await runs.digests(known.map(({ runId }) => runId))
  const lost = known
    .filter(({ runId, digest }) => stored.get(runId) !== toHex(digest))
    .map(({ runId, digest, cost, at }) => ({
      receipt_id: receiptIdOf(runId),
      run_id: runId,
      digest: toHex(digest),
      cost_nusd: Number(cost),
      finished_at: toRfc3339(at),
    }))
  if (lost.length === 0) return
  const file = await write?.(lost)
  const [first, last] = [lost[0]?.receipt_id, lost.at(-1)?.receipt_id]
  const what = new Error(`the database lost ${lost.length} receipts that clients hold`)
  log.error('log.receipts_lost', what, { count: lost.length, first, last, file })
}
