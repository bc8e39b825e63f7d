/** A witness of other logs: answers the requests of c2sp.org/tlog-witness. */
import { type Clock, toRfc3339 } from '../../kernel/clock.ts'
import type { Log } from '../../kernel/log.ts'
import { toBase64 } from '../../verify/base64.ts'
import {
  cosignatureBytes,
  cosignedBytes,
  isLineOf,
  type Note,
  type NoteKey,
  noteOf,
  signatureLine,
  vkeyOf,
} from '../../verify/signed-note.ts'
import {
  type Decision,
  isSignedBy,
  judgeHead,
  parseSubmission,
  type SeenLogHead,
  type Submission,
} from './submission.ts'

/** The answer to a request; the caller makes a response of it. */
export type Answer = { status: number; text: string; headers?: Record<string, string> }

/** The state that a witness needs; see `store.ts`. */
type Store = {
  decide<T>(
    origin: string,
    decide: (seen: SeenLogHead | undefined) => {
      value: T
      row?: SeenLogHead & { cosigned: string; at: number }
    },
  ): T
  find(originHash: string): { note: string; cosigned: string } | undefined
}

/** Two heads of a log that a witness was shown, and what was to lead from one to the other. */
export type Fork = {
  type: 'counterfoil.fork'
  version: '1'
  origin: string
  /** RFC 3339. */
  found_at: string
  /** Whether the two notes alone prove it: one size, two roots, both signed by the log. */
  is_proof: boolean
  /** The note that the witness signed, with its cosignature. */
  signed: string
  /** The note that it was shown later and refused. */
  shown: string
  old: string
  path: string[]
}

export type WitnessNeeds = {
  /** Its own key, of the type of cosignatures. */
  key: NoteKey
  sign: (message: Uint8Array) => Uint8Array
  /** The keys of a log by its origin; undefined for a log that it does not watch. */
  keysOf: (origin: string) => readonly NoteKey[] | undefined
  store: Store
  keepFork: (fork: Fork) => string | undefined
  /** Counts a request of `who`, of which there may be so many a minute. */
  take: (who: string, perMinute: number) => { ok: true } | { ok: false; retryAfterMs: number }
  clock: Clock
  log: Log
}

/** Requests of one address, and heads of one log that are signed, each a minute. */
const perMinute = { address: 120, log: 60 }
/** The most bytes of a submission: sixteen signatures of the largest kind, and a path. */
export const submissionBytes = 128 * 1024

export type Witness = {
  /** `POST add-checkpoint`. */
  addCheckpoint(body: string): Answer
  /** `GET <hash of the origin>/checkpoint`. */
  checkpoint(originHash: string): Answer
  /** Its name and key, for people. */
  about(): Answer
  /** Whether an address may ask now; takes one of its requests. */
  admit(address: string): Answer | undefined
}

export function makeWitness(needs: WitnessNeeds): Witness {
  const { key, keysOf, store } = needs

  /** The signature is made inside of the transaction and leaves when that is on the disk. */
  const decide = (submission: Submission, keys: readonly NoteKey[]): Answer => {
    const { head, note } = submission
    return store.decide(head.origin, (seen) => {
      const decision = judgeHead(submission, seen)
      if (decision.status !== 200) return { value: refuse(needs, submission, decision, seen) }
      const cosigned = cosign(needs, note)
      const row = { size: head.size, root: head.root, note: noteBy(note, keys) }
      const at = needs.clock.now()
      return { value: { status: 200, text: cosigned }, row: { ...row, cosigned, at } }
    })
  }

  return {
    addCheckpoint(body) {
      const submission = parseSubmission(body)
      if (!submission) return told(400, 'The body is malformed: see c2sp.org/tlog-witness.')
      const { origin } = submission.head
      const keys = keysOf(origin)
      if (!keys) return told(404, 'This witness does not watch this log.')
      if (!isSignedBy(submission, keys)) {
        return told(403, 'No key of this log that the witness trusts signed the note.')
      }
      return tooMany(needs, `log ${origin}`, perMinute.log) ?? decide(submission, keys)
    },
    checkpoint(originHash) {
      const found = store.find(originHash)
      if (!found) return told(404, 'This witness signed no checkpoint of such a log.')
      return { status: 200, text: `${found.note}${found.cosigned}` }
    },
    about: () => told(200, `A witness of transparency logs.\n${vkeyOf(key)}`),
    admit: (address) => tooMany(needs, `address ${address}`, perMinute.address),
  }
}

const told = (status: number, words: string): Answer => ({ status, text: `${words}\n` })

function tooMany({ take }: WitnessNeeds, who: string, most: number): Answer | undefined {
  const verdict = take(who, most)
  if (verdict.ok) return undefined
  const headers = { 'retry-after': String(Math.ceil(verdict.retryAfterMs / 1000)) }
  return { ...told(429, 'Too many requests. Try again later.'), headers }
}

/** The line that says: at this time, this was the largest head seen of the log. */
function cosign({ key, sign, clock }: WitnessNeeds, { text }: Note): string {
  const time = BigInt(Math.floor(clock.now() / 1000))
  return signatureLine(key, cosignatureBytes(time, sign(cosignedBytes(text, time))))
}

function refuse(
  needs: WitnessNeeds,
  submission: Submission,
  decision: Exclude<Decision, { status: 200 }>,
  seen: SeenLogHead | undefined,
): Answer {
  if ('fork' in decision && decision.fork && seen) {
    keepFork(needs, submission, seen, decision.fork.isProof)
  }
  if (decision.status === 409) {
    const headers = { 'content-type': 'text/x.tlog.size' }
    return { ...told(409, String(decision.size)), headers }
  }
  const why =
    decision.status === 400
      ? 'The old size is larger than the checkpoint.'
      : 'The checkpoint does not continue what this witness signed.'
  return told(decision.status, why)
}

function keepFork(
  { keepFork, clock, log }: WitnessNeeds,
  { head, text, old, path }: Submission,
  seen: SeenLogHead,
  isProof: boolean,
): void {
  const file = keepFork({
    type: 'counterfoil.fork',
    version: '1',
    origin: head.origin,
    found_at: toRfc3339(clock.now()),
    is_proof: isProof,
    signed: seen.note,
    shown: text,
    old: String(old),
    path: path.map(toBase64),
  })
  const sizes = { signed: String(seen.size), shown: String(head.size) }
  log.warn('witness.fork', { origin: head.origin, ...sizes, file: file ?? null })
}

/** A note with the lines of the log's keys, without those of others. */
const noteBy = ({ text, lines }: Note, keys: readonly NoteKey[]): string =>
  noteOf(
    text,
    lines
      .filter((line) => keys.some((key) => isLineOf(line, key)))
      .map((line) => signatureLine(line, line.bytes)),
  )
