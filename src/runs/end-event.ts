/** The event of an ended run, for accounts that asked for it. */
import { toJsonInteger } from '../kernel/money.ts'
import { receiptIdOf } from '../proof/receipts/receipt.ts'
import type { RunRow } from '../storage/db/schema.ts'
import type { NewEvent } from '../storage/outbox/event.ts'

/** Never a text: what was asked and answered stays with the run. */
export const endEvent = (run: RunRow): NewEvent => ({
  type: 'run.ended',
  account: run.accountId,
  subject: run.id,
  data: {
    run_id: run.id,
    key_id: run.keyId,
    receipt_id: receiptIdOf(run.id),
    model: run.model,
    status: run.status,
    outcome: run.outcome,
    cost_nusd: toJsonInteger(run.cost),
    duration_ms: run.durationMs,
    tags: run.tags,
  },
})
