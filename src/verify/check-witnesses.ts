/** Checks that witnesses saw a head of the log over a receipt. */
import { toHex } from '../kernel/hex.ts'
import { fail, type Outcome, pass, skip, told, unavailable } from './checks.ts'
import { leafHash, leafKinds, verifyInclusion } from './merkle.ts'
import type { Proof } from './proof.ts'
import { type Note, type NoteKey, type NoteSignature, verifyNote } from './signed-note.ts'
import { parseTlogProof } from './tlog-proof.ts'

/** A witness that a reader trusts, under a name of the reader's own. */
export type TrustedWitness = { name: string; key: NoteKey }

/** The demands of a reader on witnesses. */
export type WitnessPolicy = {
  witnesses: readonly TrustedWitness[]
  /** How many must have signed; below it the receipt is undecided. */
  quorum: number
  /** Note keys of the log, old and new, if the reader knows them: one must have signed too. */
  log?: readonly NoteKey[]
}

/** A witness that saw the log, and when: RFC 3339, or seconds since 1970 beyond the year 9999. */
export type Sighting = { name: string; seen_at: string }

export type WitnessVerdict = { outcome: Outcome; seen: Sighting[] }

type Receipt = { issuer: string; digest: Uint8Array }

/** Judges a proof; made apart from the rest, which does without its mathematics. */
export type JudgeWitnesses = (receipt: Receipt, proof: Proof | undefined) => WitnessVerdict

/**
 * Judges proofs by a policy. A line of a known key that does not hold makes it fail: the file was
 * damaged, or made to deceive.
 */
export const judgeBy =
  (policy: WitnessPolicy): JudgeWitnesses =>
  (receipt, proof) => {
    const nothing = (outcome: Outcome): WitnessVerdict => ({ outcome, seen: [] })
    if (!proof?.tlog) {
      const none = 'No proof under a head that witnesses signed was given.'
      return nothing(policy.quorum > 0 ? unavailable(none) : skip(none))
    }
    const tlog = parseTlogProof(proof.tlog)
    if (!tlog) return nothing(fail('The proof of the witnesses cannot be read.'))
    const { origin, size, root } = tlog.head
    if (origin !== receipt.issuer) {
      return nothing(fail(`Expected a head of ${told(receipt.issuer)}; found ${told(origin)}.`))
    }
    const leaf = leafHash(leafKinds.receipt, receipt.digest)
    const { index, path } = tlog
    // The two places of one receipt are one: a log that holds it twice is told apart.
    if (String(index) !== proof.index || !verifyInclusion({ index, size, leaf, path, root })) {
      return nothing(fail(`The receipt is not number ${index} of the ${size} that witnesses saw.`))
    }
    if (size === BigInt(proof.size) && toHex(root) !== proof.checkpoint.root) {
      return nothing(fail(`The log shows witnesses another root of its ${size} leaves.`))
    }
    return judgeNote(policy, tlog.note, size)
  }

/** Judges the signatures of a head by a policy; its text, and what it covers, was looked at. */
export const judgeNote = (policy: WitnessPolicy, note: Note, size: bigint): WitnessVerdict =>
  judgeSignatures(policy, verifyNote(note, keysOf(policy)), size)

const keysOf = ({ witnesses, log }: WitnessPolicy): NoteKey[] => [
  ...witnesses.map(({ key }) => key),
  ...(log ?? []),
]

function judgeSignatures(
  { witnesses, quorum, log }: WitnessPolicy,
  { signed, broken }: ReturnType<typeof verifyNote>,
  size: bigint,
): WitnessVerdict {
  const seen = witnesses.flatMap(({ name, key }) => sighting(name, signed, key))
  const [wrong] = broken
  if (wrong) {
    return { outcome: fail(`The signature of ${told(wrong.name)} does not hold.`), seen: [] }
  }
  if (log && !signed.some(({ key }) => log.includes(key))) {
    const names = [...new Set(log.map(({ name }) => told(name)))].join(' or ')
    return { outcome: fail(`The log itself did not sign its head, as ${names}.`), seen }
  }
  const names = seen.map(({ name }) => told(name)).join(', ')
  const many = `${seen.length} of ${witnesses.length} witnesses saw the log of ${size} leaves`
  if (seen.length < quorum) {
    return { outcome: unavailable(`${many}; ${quorum} are required.`), seen }
  }
  if (seen.length === 0) return { outcome: skip(`${many}.`), seen }
  return { outcome: pass(`${many}: ${names}.`), seen }
}

const sighting = (name: string, signed: readonly NoteSignature[], key: NoteKey): Sighting[] =>
  signed.flatMap((one) =>
    one.key === key && one.time ? [{ name, seen_at: timeText(one.time) }] : [],
  )

const timeText = (time: bigint): string =>
  time < maxTime ? new Date(Number(time) * 1000).toISOString() : String(time)

/** The first second, since 1970, of the year 10000. */
const maxTime = 253_402_300_800n
