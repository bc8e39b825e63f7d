/** The JSON of a run as `/v1/runs` shows it. */
import type { Json } from '../kernel/canonical.ts'
import { timeOrNull, toRfc3339 } from '../kernel/clock.ts'
import { toJsonInteger } from '../kernel/money.ts'
import { receiptIdOf } from '../proof/receipts/receipt.ts'
import type { RunRow } from '../storage/db/schema/schema.ts'
import type { RunAnswer } from './shapes.ts'

/** `output` is given only where it is stored or was produced by this request. */
export function toRunView(run: RunRow, output?: Json): RunAnswer {
  return {
    id: run.id,
    object: 'run',
    status: run.status,
    kind: run.kind,
    model: run.model,
    route: run.route,
    key_id: run.keyId,
    created_at: toRfc3339(run.createdAt),
    started_at: timeOrNull(run.startedAt),
    first_byte_at: timeOrNull(run.firstByteAt),
    finished_at: timeOrNull(run.finishedAt),
    hold_nusd: toJsonInteger(run.hold),
    lines: run.lines.map(({ meter, quantity, price }) => ({
      meter,
      quantity,
      price_pusd: toJsonInteger(BigInt(price)),
    })),
    cost_nusd: toJsonInteger(run.cost),
    discount_bps: run.discountBps,
    usage_source: run.usageSource,
    clamped: run.clamped,
    outcome: run.outcome,
    error: run.error,
    receipt_id: run.finishedAt === null ? null : receiptIdOf(run.id),
    background: run.background,
    tags: run.tags,
    metadata: run.metadata,
    ...(output === undefined ? {} : { output }),
  }
}
