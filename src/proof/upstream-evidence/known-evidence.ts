/** Makes the file of the evidence of an upstream, and decides who sees it. */
import type { Deps } from '../../app/deps-port.ts'
import { sha256 } from '../../kernel/hash.ts'
import { toHex } from '../../kernel/hex.ts'
import { receiptIdOf } from '../../kernel/ids.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { ShareRow, UpstreamEvidenceRow } from '../../storage/db/schema/schema.ts'
import { isEqualBytes } from '../../verify/merkle.ts'
import {
  type EvidenceFile,
  evidenceDigest,
  type UpstreamEvidence,
} from '../../verify/upstream-evidence.ts'
import { checkpointOver, toCheckpointView } from '../log/checkpoint.ts'
import { isUnprovable } from '../log/damage.ts'
import { logOf } from '../log/logs.ts'
import { type ProofDeps, pathTo } from '../log/proof.ts'
import { evidenceWords } from './words.ts'

export type EvidenceDeps = ProofDeps & Pick<Deps, 'upstreamEvidence'>

/** The parts of a row that a statement is made of. */
type StatementRow = Pick<
  UpstreamEvidenceRow,
  | ('runId' | 'upstream' | 'model' | 'scheme' | 'requestHash' | 'answerHash')
  | ('document' | 'key' | 'checkedAt' | 'salt')
>

/** The statement of evidence that was checked; undefined where a part is missing or erased. */
export function statementOf(
  row: StatementRow,
  receipt: { issuer: string; digest: Uint8Array },
): UpstreamEvidence | undefined {
  const { runId, upstream, model, scheme, requestHash, answerHash } = row
  const { document, key, checkedAt, salt } = row
  if (!requestHash || !answerHash || !salt) return undefined
  if (document === null || key === null || checkedAt === null) return undefined
  return {
    issuer: receipt.issuer,
    receipt_id: receiptIdOf(runId),
    receipt_digest: toHex(receipt.digest),
    ...{ upstream, model, scheme, key },
    request_sha256: toHex(requestHash),
    answer_sha256: toHex(answerHash),
    document_sha256: toHex(sha256(document)),
    checked_at: String(checkedAt),
    salt: toHex(salt),
  }
}

/** A run by its receipt. */
type EndedRun = { id: string; issuer: string; digest: Uint8Array }

/** The state of the evidence of a receipt, as a reader may know it. */
export type KnownEvidence = {
  state: UpstreamEvidenceRow['state']
  reason: UpstreamEvidenceRow['reason']
  /** Undefined unless it is there and stands in the log. */
  file: EvidenceFile | undefined
}

/** The evidence of a receipt as its owner sees it; undefined if the upstream signs nothing. */
export async function ownEvidence(
  deps: EvidenceDeps,
  { id, issuer, digest }: EndedRun,
): Promise<KnownEvidence | undefined> {
  const row = await deps.upstreamEvidence.find(id)
  if (!row) return undefined
  const { state, reason } = row
  const statement = state === 'attested' ? statementOf(row, { issuer, digest }) : undefined
  const file = statement && (await fileOf(deps, row, statement).catch(noneUnprovable))
  return { state, reason, file }
}

/** A log that disagrees with itself proves nothing any more. */
function noneUnprovable(error: unknown): undefined {
  if (!isUnprovable(error)) throw error
}

/** Undefined if the leaf is of the receipt as it was before its log was abandoned. */
async function fileOf(
  deps: ProofDeps,
  { digest, document, logPlace }: UpstreamEvidenceRow,
  statement: UpstreamEvidence,
): Promise<EvidenceFile | undefined> {
  if (!digest || document === null || logPlace === null) return undefined
  if (!isEqualBytes(evidenceDigest(statement), digest)) return undefined
  const log = logOf(deps.logs, statement.issuer)
  const index = logPlace - log.start
  const head = await checkpointOver(deps, log, index)
  const path = await pathTo(deps, log, index, head)
  return {
    type: 'counterfoil.upstream_evidence',
    version: '1',
    statement,
    document,
    log: { index: String(index), path, checkpoint: toCheckpointView(head) },
  }
}

/**
 * Whether a share shows evidence. It names the model, which the section `run` may hide, and has the
 * plain hash of the request, by which a short prompt could be guessed unless it is shown.
 */
export const isEvidenceShared = ({ sections, revealed }: ShareScope): boolean =>
  sections.includes('run') && revealed.input !== undefined

type ShareScope = Pick<ShareRow, 'sections' | 'revealed'>

/** The evidence of a receipt as its share shows it; undefined where it shows none. */
export const sharedEvidence = async (
  deps: EvidenceDeps,
  ended: EndedRun,
  share: ShareScope,
): Promise<KnownEvidence | undefined> =>
  isEvidenceShared(share) ? ownEvidence(deps, ended) : undefined

/** The file of evidence. @throws Refusal `not_found` that says why there is none. */
export function fileIn(
  known: KnownEvidence | undefined,
  headers?: Record<string, string>,
): EvidenceFile {
  if (known?.file) return known.file
  const metadata = known && { state: known.state, reason: known.reason }
  const more = { ...(metadata && { metadata }), ...(headers && { headers }) }
  return refuse('not_found', { message: evidenceWords(known), ...more })
}
