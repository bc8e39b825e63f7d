/** Words for the state of the evidence of an upstream. */
import type { EvidenceReason, UpstreamEvidenceRow } from '../../storage/db/schema/schema.ts'

type EvidenceState = Pick<UpstreamEvidenceRow, 'state' | 'reason'>

/** Why there is no evidence, or why it was refused. */
export const reasonWords: Record<EvidenceReason, string> = {
  unreadable: 'the upstream served something other than a signature',
  wrong_hashes: 'the upstream signed another request or answer',
  wrong_model: 'the upstream signed an answer of another model',
  bad_signature: 'the signature is not of the key that the upstream names',
  not_found: 'the upstream has no signature of this answer',
  unreachable: 'the upstream did not answer',
  failed: 'the upstream answered with an error',
  too_large: 'the upstream served more than a signature',
  unknown_key: 'the upstream signed with a key that the operator does not trust',
  not_whole: 'the answer of the upstream broke off',
  no_id: 'the answer of the upstream had no id to ask by',
  lost: 'the server stopped before the last bytes of the answer were hashed',
  unconfigured: 'the operator does not ask this upstream for signatures any more',
  reopened: 'a new log was opened after the run',
  erased: 'it was erased with the texts',
}

/** The state of evidence in one sentence; undefined is a run whose upstream signs nothing. */
export function evidenceWords(known: EvidenceState | undefined): string {
  if (!known) return 'There is no evidence of the upstream of this receipt.'
  const { state, reason } = known
  const why = reason === null ? '' : `: ${reasonWords[reason]}`
  if (state === 'refused') return `The evidence of the upstream was refused${why}.`
  if (state === 'waiting') {
    return reason === null
      ? 'The upstream is being asked for its evidence. Ask again in a few seconds.'
      : `The upstream is asked again for its evidence${why}.`
  }
  if (state === 'attested' && reason === null) return 'The upstream attested its answer.'
  return `There is no evidence of the upstream${why}.`
}
