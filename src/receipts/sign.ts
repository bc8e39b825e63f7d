import type { Deps } from '../deps.ts'
import { refuse } from '../kernel/refusal.ts'
import type { Ended } from './receipt.ts'

type Needs = Pick<Deps, 'receipts' | 'signer' | 'sequencer' | 'log'>

/** An ended run whose receipt can be shown: numbered, and signed by the key that is valid there. */
export type Signed = Ended & { logIndex: number; signature: Uint8Array }

/**
 * Numbers and signs a receipt that is read before the background came to it. The nonce follows
 * from the digest (RFC 6979), so the bytes are the same whoever signs, and however often.
 * @throws Refusal `unavailable` while another node numbers the log and has not come to it.
 */
export async function signed(deps: Needs, receiptId: string, ended: Ended): Promise<Signed> {
  const run = await numbered(deps, receiptId, ended)
  const { logIndex } = run
  if (run.signature) return { ...run, logIndex, signature: run.signature }
  const signature = deps.signer.sign(run.digest)
  try {
    await deps.receipts.sign([{ id: run.id, signature }])
  } catch (error) {
    // The same bytes come out the next time: a full disk does not keep anybody from a receipt.
    deps.log.warn('receipt.signature_not_kept', { receipt_id: receiptId, reason: String(error) })
  }
  return { ...run, logIndex, signature }
}

/**
 * Numbers a receipt that is read before the sequencer came to it.
 * @throws Refusal `unavailable` while another node numbers the log and has not come to it.
 */
export async function numbered(
  deps: Pick<Needs, 'receipts' | 'sequencer'>,
  receiptId: string,
  ended: Ended,
): Promise<Ended & { logIndex: number }> {
  let run: Ended | undefined = ended
  if (run.logIndex === null) {
    await deps.sequencer.flush()
    run = await deps.receipts.find(receiptId)
  }
  if (!run || run.logIndex === null) {
    refuse('unavailable', {
      message: 'The receipt is being numbered. Ask again in a second.',
      headers: { 'retry-after': '1' },
    })
  }
  return { ...run, logIndex: run.logIndex }
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
      const unsigned = found.flatMap(({ id, digest, signature }) =>
        digest && !signature ? [{ id, signature: deps.signer.sign(digest) }] : [],
      )
      if (unsigned.length > 0) await deps.receipts.sign(unsigned)
      next = (found.at(-1)?.logIndex ?? next - 1) + 1
      if (found.length < batch) return
    }
  }
}
