/** Reads what a log sends to a witness, and decides what a witness may sign (tlog-witness). */
import { sha256 } from '@noble/hashes/sha2.js'
import { type NoteHead, parseHead, parseSize } from '../../verify/checkpoint-note.ts'
import { isEqualBytes, verifyConsistency } from '../../verify/merkle.ts'
import { type Note, type NoteKey, parseNote, verifyNote } from '../../verify/signed-note.ts'
import { hashIn } from '../../verify/tlog-proof.ts'

/** The body of `add-checkpoint`, taken apart. */
export type Submission = {
  /** The size that the log believes the witness saw last. */
  old: bigint
  /** RFC 6962 §2.1.2, from that size to the size of the checkpoint. */
  path: Uint8Array[]
  head: NoteHead
  note: Note
  /** The note as it was sent. */
  text: string
}

/** The newest head of a log that a witness signed. */
export type SeenLogHead = { size: bigint; root: Uint8Array; note: string }

/** The most hashes of a path. */
const maxPath = 63

/** Reads a body; undefined if it is malformed. */
export function parseSubmission(body: string): Submission | undefined {
  const end = body.indexOf('\n\n')
  const [first = '', ...lines] = end === -1 ? [] : body.slice(0, end).split('\n')
  const old = first.startsWith('old ') ? parseSize(first.slice(4)) : undefined
  const path = lines.flatMap((line) => hashIn(line) ?? [])
  const text = body.slice(end + 2)
  const note = parseNote(text)
  const head = note && parseHead(note.text)
  if (old === undefined || !note || !head) return undefined
  if (path.length !== lines.length || path.length > maxPath) return undefined
  return { old, path, head, note, text }
}

/**
 * The fate of a submission. A `fork` is a signed head that contradicts the one signed before:
 * `isProof` where the two alone show it, which they do at one size.
 */
export type Decision =
  | { status: 200 }
  | { status: 400 }
  | { status: 409; size: bigint; fork?: { isProof: true } }
  | { status: 422; fork?: { isProof: false } }

/** Whether a key of the log signed it, and no line of one is broken. */
export function isSignedBy({ note }: Submission, keys: readonly NoteKey[]): boolean {
  const { signed, broken } = verifyNote(note, keys)
  return signed.length > 0 && broken.length === 0
}

/** Decides by what was seen last of the log; undefined before anything was. */
export function judgeHead(submission: Submission, seen: SeenLogHead | undefined): Decision {
  const { old, path, head } = submission
  if (old > head.size) return { status: 400 }
  const isOther = seen !== undefined && !isEqualBytes(seen.root, head.root)
  const last = seen?.size ?? 0n
  if (old !== last) {
    const isFork = isOther && head.size === last
    return { status: 409, size: last, ...(isFork && { fork: { isProof: true } }) }
  }
  if (head.size === 0n && !isEqualBytes(head.root, sha256(new Uint8Array()))) {
    return { status: 422 }
  }
  if (old === 0n) return path.length === 0 ? { status: 200 } : { status: 422 }
  // "If the old size matches the checkpoint size, the root hashes must be identical": tlog-witness.
  if (old === head.size && isOther) return { status: 409, size: last, fork: { isProof: true } }
  const fromRoot = seen?.root ?? new Uint8Array()
  const claim = { from: old, to: head.size, fromRoot, toRoot: head.root, path }
  return verifyConsistency(claim) ? { status: 200 } : { status: 422, fork: { isProof: false } }
}
