/** Checks the place of a receipt in the log. */
import { fromHex, toHex } from '../kernel/hex.ts'
import { fail, type Outcome, pass, skip, type TrustedSigner, unavailable } from './checks.ts'
import { checkCheckpoint } from './log-place.ts'
import { leafHash, receiptKind, verifyConsistency, verifyInclusion } from './merkle.ts'
import {
  type Checkpoint,
  type Consistency,
  type Proof,
  parseCheckpoint,
  parseConsistency,
  parseProof,
} from './proof.ts'
import type { Problem } from './receipt.ts'

export type LogCheckName = 'leaf' | 'inclusion' | 'checkpoint_signature' | 'checkpoint_consistent'

/** The claims about a receipt's place in the log, as parsed JSON. */
export type LogEvidence = {
  proof?: unknown
  /** Another checkpoint of the same log, which the reader kept or got elsewhere. */
  checkpoint?: unknown
  /** The path between that and the proof's. */
  consistency?: unknown
}

export type LogVerdict = {
  outcomes: Record<LogCheckName, Outcome>
  /** Parts that cannot be read; then the log was not checked. */
  problems: Problem[]
  /** The receipt's log index, once leaf, inclusion and the checkpoint's signature hold. */
  index?: bigint
  /** The proof, if one was given that can be read. */
  proof?: Proof
}

type Receipt = { id: string; issuer: string; digest: Uint8Array }

/** Judges the place of a receipt in the log. Never throws. */
export function checkLog(
  receipt: Receipt,
  evidence: LogEvidence,
  signers: readonly TrustedSigner[] | undefined,
  required: boolean,
): LogVerdict {
  if (isAbsent(evidence.proof)) {
    return same(required ? unavailable('A proof is required.') : skip('No proof was given.'))
  }
  const problems: Problem[] = []
  const proof = parseProof(evidence.proof, receipt.id, problems)
  const other = isAbsent(evidence.checkpoint)
    ? undefined
    : parseCheckpoint(evidence.checkpoint, 'checkpoint', problems)
  const between = isAbsent(evidence.consistency)
    ? undefined
    : parseConsistency(evidence.consistency, problems)
  if (!proof || problems.length > 0) return same(skip('The proof could not be read.'), problems)
  const outcomes = {
    leaf: checkLeaf(proof, receipt.digest),
    inclusion: checkInclusion(proof),
    checkpoint_signature: checkCheckpoint(proof.checkpoint, receipt.issuer, signers),
    checkpoint_consistent: checkConsistent(proof.checkpoint, other, between, signers),
  }
  const verdict = { outcomes, problems, proof }
  return isLogged(outcomes) ? { ...verdict, index: BigInt(proof.index) } : verdict
}

/** Whether the receipt is in the log under a checkpoint of a trusted signer. */
export const isLogged = (outcomes: Record<LogCheckName, Outcome>): boolean =>
  [outcomes.leaf, outcomes.inclusion, outcomes.checkpoint_signature].every(
    ({ status }) => status === 'pass',
  )

const isAbsent = (value: unknown): boolean => value === undefined || value === null

const same = (outcome: Outcome, problems: Problem[] = []): LogVerdict => ({
  outcomes: {
    leaf: outcome,
    inclusion: outcome,
    checkpoint_signature: outcome,
    checkpoint_consistent: outcome,
  },
  problems,
})

const checkLeaf = ({ leaf }: Proof, digest: Uint8Array): Outcome =>
  leaf === leafOf(digest)
    ? pass("The leaf is the hash of this receipt's digest.")
    : fail(`Expected the leaf of this receipt, ${leafOf(digest)}; found ${leaf}.`)

const leafOf = (digest: Uint8Array): string => toHex(leafHash(receiptKind, digest))

function checkInclusion({ index, size, leaf, path, checkpoint }: Proof): Outcome {
  const holds = verifyInclusion({
    index: BigInt(index),
    size: BigInt(size),
    leaf: fromHex(leaf),
    path: path.map(fromHex),
    root: fromHex(checkpoint.root),
  })
  return holds
    ? pass(`The leaf is number ${index} of the ${size} under the root.`)
    : fail(`The path does not lead from number ${index} of ${size} to the root.`)
}

function checkConsistent(
  own: Checkpoint,
  other: Checkpoint | undefined,
  between: Consistency | undefined,
  signers: readonly TrustedSigner[] | undefined,
): Outcome {
  if (!other) return skip('Only one checkpoint was given.')
  const trusted = checkCheckpoint(other, own.issuer, signers)
  if (trusted.status !== 'pass') {
    return { status: trusted.status, reason: `Of the other checkpoint: ${trusted.reason}` }
  }
  const [first, second] = BigInt(own.size) <= BigInt(other.size) ? [own, other] : [other, own]
  if (first.size !== second.size && !between) {
    return unavailable('The path between the two checkpoints was not given.')
  }
  const { from, to, path } = between ?? { from: first.size, to: second.size, path: [] }
  if (from !== first.size || to !== second.size) {
    return fail('The path is between other sizes than those of the two checkpoints.')
  }
  const holds = verifyConsistency({
    from: BigInt(from),
    to: BigInt(to),
    fromRoot: fromHex(first.root),
    toRoot: fromHex(second.root),
    path: path.map(fromHex),
  })
  return holds
    ? pass(`The log of ${to} leaves begins with that of ${from}.`)
    : fail(`The log of ${to} leaves does not begin with that of ${from}: it was rewritten.`)
}
