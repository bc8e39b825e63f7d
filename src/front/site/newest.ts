/** The newest public receipt, verified, for the landing page. */
import type { Deps } from '../../app/deps-port.ts'
import { Refusal } from '../../kernel/refusal.ts'
import { trustOf } from '../../proof/receipts/check-receipt.ts'
import { sharedFileOf } from '../../proof/receipts/receipt-file.ts'
import type { ShareRow } from '../../storage/db/schema.ts'
import type { ReceiptFile } from '../../verify/receipt.ts'
import { type Verdict, verifyReceipt } from '../../verify/verify.ts'

/** A public receipt and this service's verdict on it. */
export type Newest = { file: ReceiptFile; verdict: Verdict }

/**
 * The newest listed receipt; undefined if there is none. Its visibility is read each time; the
 * verdict is cached while it is shared unchanged.
 */
export function newestReader(deps: Deps): () => Promise<Newest | undefined> {
  let known: { name: string; newest: Newest } | undefined
  return async () => {
    const share = await deps.site.newestShare()
    if (!share) return undefined
    const name = JSON.stringify([share.receiptId, share.updatedAt, share.sections])
    if (known?.name === name) return known.newest
    const newest = await judgeShared(deps, share)
    known = newest && { name, newest }
    return newest
  }
}

async function judgeShared(deps: Deps, share: ShareRow): Promise<Newest | undefined> {
  const stored = await deps.receipts.find(share.receiptId)
  if (!stored) return undefined
  try {
    const file = await sharedFileOf(deps, stored, { ...share, revealed: {} })
    // Skips the chain, which the receipt's own page checks.
    const verdict = verifyReceipt({ file }, trustOf(deps, stored, file), { chain: 'skip' })
    return { file, verdict }
  } catch (error) {
    // The receipt is being numbered right now; the page can do without one.
    if (error instanceof Refusal) return undefined
    throw error
  }
}
