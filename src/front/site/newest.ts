import type { Deps } from '../../app/deps-port.ts'
import { Refusal } from '../../kernel/refusal.ts'
import { trustOf } from '../../proof/receipts/check-receipt.ts'
import { sharedFileOf } from '../../proof/receipts/receipt-file.ts'
import type { ShareRow } from '../../storage/db/schema.ts'
import type { ReceiptFile } from '../../verify/receipt.ts'
import { type Verdict, verifyReceipt } from '../../verify/verify.ts'

/** A receipt as everybody sees it, and what this service finds when it checks it. */
export type Newest = { file: ReceiptFile; verdict: Verdict }

type Needs = Pick<Deps, 'receipts' | 'site' | 'logs' | 'signers'> &
  Parameters<typeof sharedFileOf>[0]

/**
 * The newest receipt that its owner put into lists; undefined while there is none to show. Who sees
 * it is asked each time; it is judged once for as long as it is shown in the same way.
 */
export function newestReader(deps: Needs): () => Promise<Newest | undefined> {
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

async function judgeShared(deps: Needs, share: ShareRow): Promise<Newest | undefined> {
  const stored = await deps.receipts.find(share.receiptId)
  if (!stored) return undefined
  try {
    const file = await sharedFileOf(deps, stored, { ...share, revealed: {} })
    // The chain is not asked: the receipt's own page does that.
    const verdict = verifyReceipt({ file }, trustOf(deps, stored, file), { chain: 'skip' })
    return { file, verdict }
  } catch (error) {
    // It is just being numbered: the page has a place for none.
    if (error instanceof Refusal) return undefined
    throw error
  }
}
