import type { ReceiptRow } from '../db/schema.ts'
import type { Deps } from '../deps.ts'
import { refuse } from '../kernel/refusal.ts'

type Needs = Pick<Deps, 'receipts' | 'signer' | 'sequencer'>

/** A receipt as it is shown: numbered in the log and signed by the key that is valid there. */
export type SignedReceipt = ReceiptRow & { logIndex: number; signature: Uint8Array }

/**
 * Numbers and signs a receipt that is read before the background came to it. The nonce follows
 * from the digest (RFC 6979), so the bytes are the same whoever signs, and however often.
 * @throws Refusal `unavailable` while another node numbers the log and has not come to it.
 */
export async function signedReceipt(deps: Needs, receipt: ReceiptRow): Promise<SignedReceipt> {
  let row: ReceiptRow | undefined = receipt
  if (row.logIndex === null) {
    await deps.sequencer.flush()
    row = await deps.receipts.find(receipt.id)
  }
  if (!row || row.logIndex === null) {
    refuse('unavailable', {
      message: 'The receipt is being numbered. Ask again in a second.',
      headers: { 'retry-after': '1' },
    })
  }
  const { logIndex } = row
  if (row.signature) return { ...row, logIndex, signature: row.signature }
  const signature = deps.signer.sign(row.digest)
  await deps.receipts.sign([{ id: row.id, signature }])
  return { ...row, logIndex, signature }
}

/** Receipts signed in one go, about a millisecond of work. */
const batch = 32

/**
 * Signs numbered receipts in the order of the log, a few at a time: nobody waits for these, so
 * they take the moments when no run is in flight. Starts over after a restart and skips what is
 * signed.
 */
export function backgroundSigner(deps: Needs & Pick<Deps, 'live'>) {
  let next = 0
  return async (): Promise<void> => {
    while (deps.live.count() === 0) {
      const found = await deps.receipts.numberedFrom(next, batch)
      const unsigned = found.filter((row) => row.signature === null)
      const signed = unsigned.map(({ id, digest }) => ({ id, signature: deps.signer.sign(digest) }))
      if (signed.length > 0) await deps.receipts.sign(signed)
      next = (found.at(-1)?.logIndex ?? next - 1) + 1
      if (found.length < batch) return
    }
  }
}
