/** Erases the texts of a receipt; the receipt itself still verifies. */
import type { Deps } from '../../app/deps-port.ts'
import type { Millis } from '../../kernel/clock.ts'
import { refuse } from '../../kernel/refusal.ts'
import { receiptOf } from './receipt.ts'

/**
 * Deletes what a receipt's texts could be found by, for good: the seed, the kept texts and those
 * that a link showed. The receipt itself, its signature and its proof hold as before. Erasing
 * again changes nothing; returns when it was erased.
 * @throws Refusal `receipt_not_found` unless it is the account's, `conflict` while it is public.
 */
export async function eraseReceipt(
  deps: Pick<Deps, 'receipts' | 'shares' | 'texts' | 'clock' | 'ids'>,
  { account, receiptId, actor }: { account: string; receiptId: string; actor: string },
): Promise<Millis> {
  const ended = await deps.receipts.find(receiptId)
  if (!ended || ended.accountId !== account) refuse('receipt_not_found')
  const at = deps.clock.now()
  const id = deps.ids.make('req')
  const wish = { receiptId, receipt: receiptOf(ended), at }
  let wasErased = false
  const erasedAt = await deps.shares.erase(wish, ({ isErased, share }) => {
    wasErased = isErased
    if (isErased) return { share, audit: undefined }
    if (share?.visibility === 'public') {
      refuse('conflict', 'The receipt is public. Make it private first: visibility "private".')
    }
    const audit = {
      id,
      at,
      actor,
      action: 'receipt.erase',
      accountId: account,
      subject: receiptId,
      detail: { visibility: share?.visibility ?? 'private' },
    }
    return { share: share && { ...share, revealed: {}, updatedAt: at }, audit }
  })
  if (!wasErased) await deps.texts.scrub()
  return erasedAt
}
