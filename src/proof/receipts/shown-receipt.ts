/** Adds to an account's receipts who sees them and how far they have come. */
import type { Deps } from '../../app/deps-port.ts'
import { toRfc3339 } from '../../kernel/clock.ts'
import { toHex } from '../../kernel/hex.ts'
import type { Level } from '../../verify/verify.ts'
import { indexIn } from '../log/logs.ts'
import { type Ended, receiptIdOf } from './receipt.ts'
import type { Visibility } from './receipts.ts'

/** A receipt in the list of its owner. */
export type ShownReceipt = { run: Ended; visibility: Visibility; stage: Stage }

/** How far a receipt has come; each on top of the one before. */
export type Stage = Level

export async function toShown(
  deps: Pick<Deps, 'anchors' | 'logs' | 'shares'>,
  account: string,
  runs: readonly Ended[],
): Promise<ShownReceipt[]> {
  const ids = runs.map(({ id }) => receiptIdOf(id))
  const shared = await deps.shares.visibilities(account, ids)
  const issuers = runs.map(({ issuer }) => issuer)
  const stageOf = await readStages(deps, issuers)
  return runs.map((run) => ({
    run,
    visibility: shared.get(receiptIdOf(run.id)) ?? 'private',
    stage: stageOf(run.issuer, indexIn(deps.logs, run)),
  }))
}

/** Looks at each log's part of the chain once, for all receipts of it: by log and index. */
export async function readStages(
  { anchors }: Pick<Deps, 'anchors'>,
  issuers: Iterable<string>,
): Promise<(issuer: string, index: number | null) => Stage> {
  const heads = new Map<string, { anchored: number; final: number }>()
  for (const issuer of new Set(issuers)) {
    const anchored = (await anchors.newest(issuer))?.size ?? 0
    const final = anchored === 0 ? 0 : ((await anchors.newestFinal(issuer))?.size ?? 0)
    heads.set(issuer, { anchored, final })
  }
  return (issuer, index) => {
    if (index === null) return 'signed'
    const { anchored = 0, final = 0 } = heads.get(issuer) ?? {}
    if (index < final) return 'final'
    return index < anchored ? 'anchored' : 'logged'
  }
}

/** A receipt in its owner's list, as JSON. */
export const toShownView = ({ run, visibility, stage }: ShownReceipt) => ({
  id: receiptIdOf(run.id),
  object: 'receipt' as const,
  run_id: run.id,
  model: run.model,
  kind: run.kind,
  outcome: run.outcome,
  cost_nusd: Number(run.cost),
  digest: toHex(run.digest),
  issued_at: toRfc3339(run.finishedAt),
  state: stage,
  visibility,
})
