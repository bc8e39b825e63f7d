/** The newest public receipt, judged, for the landing page. */
import type { Deps } from '../../app/deps-port.ts'
import type { Millis } from '../../kernel/clock.ts'
import { Refusal } from '../../kernel/refusal.ts'
import { type Judgement, judgeStored } from '../../proof/receipts/judge.ts'
import { sharedFileOf } from '../../proof/receipts/receipt-file.ts'
import type { ShareRow } from '../../storage/db/schema/schema.ts'

/** How long a judgement is repeated, in ms: a receipt moves on from signed to final. */
const freshMs = 2000

/**
 * The newest listed receipt; undefined if there is none. Its visibility is read each time; what it
 * has come to is at most two seconds old.
 */
export function newestReader(deps: Deps): () => Promise<Judgement | undefined> {
  let known: { name: string; at: Millis; newest: Judgement } | undefined
  return async () => {
    const share = await deps.site.newestShare()
    if (!share) return undefined
    const name = JSON.stringify([share.receiptId, share.updatedAt, share.sections])
    const at = deps.clock.now()
    if (known?.name === name && Math.abs(at - known.at) < freshMs) return known.newest
    const newest = await judgeShared(deps, share)
    known = newest && { name, at, newest }
    return newest
  }
}

async function judgeShared(deps: Deps, share: ShareRow): Promise<Judgement | undefined> {
  const stored = await deps.receipts.find(share.receiptId)
  if (!stored) return undefined
  try {
    return judgeStored(deps, stored, await sharedFileOf(deps, stored, { ...share, revealed: {} }))
  } catch (error) {
    // The receipt is being numbered right now; the page can do without one.
    if (error instanceof Refusal) return undefined
    throw error
  }
}
