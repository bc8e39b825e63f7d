/** Proves leaves under the heads that witnesses signed, as files of c2sp.org/tlog-proof. */
import type { Deps } from '../../app/deps-port.ts'
import { fromHex } from '../../kernel/hex.ts'
import type { CheckpointRow } from '../../storage/db/schema/schema.ts'
import type { Proof } from '../../verify/proof.ts'
import { tlogProofText } from '../../verify/tlog-proof.ts'
import { checkpointOver } from './checkpoint.ts'
import { logOf } from './logs.ts'
import { cosignedNote } from './notes.ts'
import { type ProofDeps, pathTo, proofOf } from './proof.ts'

export type TlogDeps = ProofDeps & Pick<Deps, 'cosignatures' | 'witnesses' | 'noteSigner'>

type Leaf = { issuer: string; index: number }

/**
 * The proof of a leaf under the first head over it that enough witnesses signed, else under the
 * first that any signed, else under the latest.
 * @throws Refusal `log_diverged`
 */
export async function tlogProofOf(deps: TlogDeps, leaf: Leaf): Promise<string> {
  const log = logOf(deps.logs, leaf.issuer)
  const head = (await witnessedOver(deps, leaf)) ?? (await checkpointOver(deps, log, leaf.index))
  return write(deps, leaf, head)
}

/** The proof of a receipt; with the file of witnesses, where any signed a head over it. */
export async function witnessedProofOf(
  deps: TlogDeps,
  receipt: Leaf & { id: string },
  size?: number,
): Promise<Proof> {
  const proof = await proofOf(deps, receipt, size)
  const head = await witnessedOver(deps, receipt)
  return head ? { ...proof, version: '2', tlog: await write(deps, receipt, head) } : proof
}

async function witnessedOver(
  { witnesses, cosignatures, checkpoints }: TlogDeps,
  { issuer, index }: Leaf,
): Promise<CheckpointRow | undefined> {
  // A log without witnesses pays nothing for them.
  if (witnesses.list.length === 0) return undefined
  const enough = Math.max(1, witnesses.required)
  const size =
    (await cosignatures.firstOver(issuer, index, enough)) ??
    (enough > 1 ? await cosignatures.firstOver(issuer, index, 1) : undefined)
  return size === undefined ? undefined : checkpoints.find(issuer, size)
}

async function write(deps: TlogDeps, { issuer, index }: Leaf, head: CheckpointRow) {
  const path = await pathTo(deps, logOf(deps.logs, issuer), index, head)
  return tlogProofText(index, path.map(fromHex), await cosignedNote(deps, head))
}
