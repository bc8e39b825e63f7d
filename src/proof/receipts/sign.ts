/** Numbers and signs receipts, on demand and in the background. */
import type { Deps } from '../../app/deps-port.ts'
import { refuse } from '../../kernel/refusal.ts'
import { logOf } from '../log/logs.ts'
import type { Ended } from './receipt.ts'

/** An ended run with its index in the log of its issuer. */
export type NumberedRun = Ended & { logPlace: number; logIndex: number }

/** One whose receipt can be shown: signed by the key that is valid at its index. */
export type SignedRun = NumberedRun & { signature: Uint8Array }

/**
 * Numbers and signs a receipt that is read before the background reached it. The nonce follows
 * from the digest (RFC 6979), so every node and every retry produces the same bytes.
 * @throws Refusal `unavailable` while another node numbers the log and has not reached it.
 */
export async function signed(deps: Deps, receiptId: string, ended: Ended): Promise<SignedRun> {
  const run = await numbered(deps, receiptId, ended)
  if (run.signature) return { ...run, signature: run.signature }
  if (!deps.signers.covers(run)) throw new Error(`${receiptId} was left to a key that is retired`)
  const signature = deps.signer.sign(run.digest)
  try {
    await deps.receipts.sign([{ place: run.logPlace, signature }])
  } catch (error) {
    // Signing again gives the same bytes: a full disk does not withhold a receipt.
    deps.log.warn('receipt.signature_not_kept', { receipt_id: receiptId, reason: String(error) })
  }
  return { ...run, signature }
}

/** How long the node that numbers is waited for, and the pause between two looks, in ms. */
const elsewhereMs = 1500
const lookMs = 50

/**
 * Numbers a receipt that is read before the sequencer came to it.
 * @throws Refusal `unavailable` while another node numbers the log and has not reached it.
 */
export async function numbered(
  deps: Pick<Deps, 'receipts' | 'sequencer' | 'logs'>,
  receiptId: string,
  ended: Ended,
): Promise<NumberedRun> {
  let run: Ended | undefined = ended
  if (run.logPlace === null) {
    await deps.sequencer.flush()
    run = await deps.receipts.find(receiptId)
    // If another node holds the sequencer's lease, it numbers this run within a second.
    for (let waited = 0; run?.logPlace === null && waited < elsewhereMs; waited += lookMs) {
      await Bun.sleep(lookMs)
      run = await deps.receipts.find(receiptId)
    }
  }
  if (!run || run.logPlace === null) {
    refuse('unavailable', {
      message: 'The receipt is being numbered. Ask again in a second.',
      headers: { 'retry-after': '1' },
    })
  }
  const { logPlace } = run
  return { ...run, logPlace, logIndex: logPlace - logOf(deps.logs, run.issuer).start }
}

/** Receipts signed in one go, about a millisecond of work; one row holds so many signatures. */
const batch = 30
/** How many are signed before it is noted how far that is; a start reads as many again. */
const notedEvery = 1000

/**
 * Signs numbered receipts in the order of the log: one small batch a tick, and more while no run
 * has begun since the tick before, because a signature costs as much as the rest of a run's end.
 * Begins at the start of the key's range, after a restart about where it stopped, and skips signed
 * receipts.
 */
export function backgroundSigner(deps: Deps) {
  const first = deps.logs.current.start + deps.signers.current.fromIndex
  let noted = first
  let next: number | undefined
  let seen = deps.live.total()
  deps.heads.onLost(() => {
    noted = first
    next = undefined
  })
  return async (): Promise<void> => {
    if (next === undefined) {
      noted = Math.max(noted, await deps.receipts.signedUpTo())
      next = noted
    }
    const isQuiet = deps.live.total() === seen && deps.live.count() === 0
    seen = deps.live.total()
    do {
      const found = await deps.receipts.numberedFrom(next, batch)
      const unsigned = found.flatMap(({ place, digest, signature }) =>
        digest && !signature ? [{ place, signature: deps.signer.sign(digest) }] : [],
      )
      if (unsigned.length > 0) await deps.receipts.sign(unsigned)
      // A connection was lost meanwhile: start again.
      if (next === undefined) return
      next = (found.at(-1)?.place ?? next - 1) + 1
      if (next - noted >= notedEvery) {
        await deps.receipts.noteSignedUpTo(next)
        noted = next
      }
      if (found.length < batch) return
      // A read of SQLite answers in the same turn: others get theirs between two of them.
      await Bun.sleep(0)
    } while (isQuiet && deps.live.total() === seen)
  }
}
