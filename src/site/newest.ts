import type { Deps } from '../deps.ts'
import { Refusal } from '../kernel/refusal.ts'
import { sharedFileOf } from '../receipts/file.ts'
import { trustOf } from '../receipts/verify.ts'
import type { ReceiptFile } from '../verify/receipt.ts'
import { type Verdict, verifyReceipt } from '../verify/verify.ts'

/** A receipt as everybody sees it, and what this service finds when it checks it. */
export type Newest = { file: ReceiptFile; verdict: Verdict }

type Needs = Pick<Deps, 'receipts' | 'site' | 'logs' | 'signers'> &
  Parameters<typeof sharedFileOf>[0]

/** The newest receipt that its owner put into lists; undefined while there is none to show. */
export async function readNewest(deps: Needs): Promise<Newest | undefined> {
  const share = await deps.site.newestShare()
  const stored = share && (await deps.receipts.find(share.receiptId))
  if (!share || !stored) return undefined
  try {
    const file = await sharedFileOf(deps, stored, share)
    // The chain is not asked: its receipt's own page does that.
    const verdict = verifyReceipt({ file }, trustOf(deps, stored, file), { chain: 'skip' })
    return { file, verdict }
  } catch (error) {
    // It is just being numbered: the page has a place for none.
    if (error instanceof Refusal) return undefined
    throw error
  }
}
