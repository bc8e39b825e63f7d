/** Builds receipt files: the owner's, and the one that others see. */
import type { Deps } from '../../app/deps-port.ts'
import type { ShareRow } from '../../storage/db/schema/schema.ts'
import type { Texts } from '../../storage/texts/store.ts'
import type { Proof } from '../../verify/proof.ts'
import { type ReceiptFile, redact, sectionNames } from '../../verify/receipt.ts'
import { isUnprovable } from '../log/damage.ts'
import { witnessedProofOf } from '../log/tlog-proofs.ts'
import { type Ended, isErased, receiptIdOf, receiptOf } from './receipt.ts'
import { toDisclosures, toReceiptFile } from './receipt-view.ts'
import { type SignedRun, signed } from './sign.ts'

/** The file of a receipt as its owner gets it: everything, until it was erased, with the proof. */
export async function ownFileOf(
  deps: Deps,
  ended: Ended,
  texts: Texts | undefined,
): Promise<ReceiptFile> {
  const run = await signed(deps, receiptIdOf(ended.id), ended)
  return { ...toOwnFile(run, texts), ...(await proofIfAny(deps, run)) }
}

/** The whole receipt, with what opens its commitments. */
export function toOwnFile(
  run: Ended & { signature: Uint8Array },
  texts: Texts | undefined,
): ReceiptFile {
  const receipt = receiptOf(run)
  const { input, output } = texts ?? {}
  const kept = {
    ...(input === undefined ? {} : { input }),
    ...(output === undefined || output === null ? {} : { output }),
  }
  const disclosures = isErased(run) ? undefined : toDisclosures(run.seed, receipt.content, kept)
  return toReceiptFile(receipt, run.digest, run.signature, disclosures)
}

/** The file of a receipt as its owner shows it, with the proof and what was revealed. */
export async function sharedFileOf(
  deps: Deps,
  ended: Ended,
  share: Pick<ShareRow, 'sections' | 'revealed'>,
): Promise<ReceiptFile> {
  const run = await signed(deps, receiptIdOf(ended.id), ended)
  return { ...toSharedFile(run, share), ...(await proofIfAny(deps, run)) }
}

/**
 * A receipt as its owner shows it: sections that were not chosen are hashes, which hide their
 * salts too, and only revealed texts come with theirs. The signature holds for it.
 */
export function toSharedFile(
  run: Ended & { signature: Uint8Array },
  { sections, revealed }: Pick<ShareRow, 'sections' | 'revealed'>,
): ReceiptFile {
  const hidden = sectionNames.filter((name) => !sections.includes(name))
  const disclosures = Object.keys(revealed).length === 0 ? undefined : revealed
  const receipt = redact(receiptOf(run), hidden)
  return toReceiptFile(receipt, run.digest, run.signature, disclosures)
}

/** A log that disagrees with itself proves nothing any more, but its receipts can still be read. */
async function proofIfAny(deps: Deps, run: SignedRun): Promise<{ proof?: Proof }> {
  try {
    const { issuer, logIndex: index } = run
    return { proof: await witnessedProofOf(deps, { id: receiptIdOf(run.id), issuer, index }) }
  } catch (error) {
    if (isUnprovable(error)) return {}
    throw error
  }
}
