/** Types of upstreams that sign their answers: an exchange with one, and where its signature is. */
import type { StopSignal } from '../../kernel/stop.ts'
import type { EvidenceSchemeName } from '../../verify/evidence-schemes.ts'

/** A request to such an upstream and its answer, by their bytes. */
export type SignedExchange = {
  upstream: string
  /** The model by its name there. */
  model: string
  scheme: string
  /** SHA-256 of the body that was sent. */
  requestHash: Uint8Array
  /** Undefined until the whole answer came, and for ever where it broke off. */
  answer: { hash: Uint8Array; id: string | undefined } | undefined
  /** Resolves when nothing more comes of the answer. */
  over: Promise<void>
}

/** How an upstream signs its answers, as the operator configured it. */
export type EvidenceConfig = {
  scheme: EvidenceSchemeName
  /** Keys that may sign, from a report that the operator checked. */
  keys: readonly string[]
  /** Below the base URL, with `{id}` in place of the id of the answer. */
  path: string
}

/** A document, or why it is missing. `isFinal`: another question changes nothing. */
export type FoundEvidence =
  | { document: string }
  | { why: 'not_found' | 'unreachable' | 'failed'; isFinal: false }
  | { why: 'unreadable' | 'too_large'; isFinal: true }

/** Evidence of an upstream. A question takes no place of a run, and neither fails nor heals it. */
export type EvidenceSource = Pick<EvidenceConfig, 'scheme' | 'keys'> & {
  /** Never rejects. */
  ask(answer: { id: string; model: string }, signal: StopSignal): Promise<FoundEvidence>
}
