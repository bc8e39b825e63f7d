/** A call with an Idempotency-Key: its fingerprint, its sealed answer, its row. */
import type { Millis } from '../../kernel/clock.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { IdempotentRow } from '../db/schema/schema.ts'

/** Encrypts what the database keeps for a while, under keys outside the database. */
export type Sealer = {
  /** Names the keys; data sealed under other keys cannot be opened. */
  name: string
  /** A keyed hash: equal for equal texts, useless for guesses without the key. */
  fingerprint(text: string): string
  /** AES-256-GCM, bound to `place`. */
  seal(text: string, place: string): Uint8Array
  /** Undefined for bytes that these keys did not seal for this place. */
  open(sealed: Uint8Array, place: string): string | undefined
}

/**
 * A call with an Idempotency-Key. The command that creates something or holds money stores the
 * call, and the command that ends it stores the answer: both survive a crash exactly as the money
 * does.
 */
export type Call = {
  /** A hash of the caller, the route and the key. */
  scope: string
  /** A keyed hash of the request body. */
  fingerprint: string
}

/** An answer to be replayed. */
export type Reply = {
  status: number
  headers: Record<string, string>
  /** Null if it was too long to keep. */
  body: string | null
}

/** How long a call is kept, in ms. */
const keptMs = 86_400_000

/** The longest answer that is kept, in UTF-16 units. */
export const replyMax = 4 * 1024 * 1024

/** Identifies calls, and seals and replays their answers. */
export type Replies = {
  /** Fingerprints a body; names the keys, without which it means nothing. */
  fingerprint(body: string): string
  seal(scope: string, reply: Reply): Uint8Array
  /**
   * The answer of an earlier call.
   * @throws Refusal `idempotency_mismatch` for another body, `idempotency_in_progress`, `conflict`
   * if the answer was not kept or cannot be read any more.
   */
  answerOf(known: IdempotentRow, call: Call): Reply & { body: string }
}

export const makeReplies = (sealer: Sealer): Replies => ({
  fingerprint: (body) => `${sealer.name}.${sealer.fingerprint(body)}`,
  seal(scope, { body, ...reply }) {
    const kept = body !== null && body.length > replyMax ? null : body
    return sealer.seal(JSON.stringify({ ...reply, body: kept }), scope)
  },
  answerOf(known, call) {
    const byUs = known.fingerprint.startsWith(`${sealer.name}.`)
    if (byUs && known.fingerprint !== call.fingerprint) refuse('idempotency_mismatch')
    if (known.reply === null) refuse('idempotency_in_progress')
    const opened = sealer.open(known.reply, known.scope)
    const reply: Reply | undefined = opened === undefined ? undefined : JSON.parse(opened)
    if (typeof reply?.body !== 'string') return refuseAgain(known)
    return { ...reply, body: reply.body }
  },
})

/** A retry cannot help: the call stays made. */
function refuseAgain({ runId }: IdempotentRow): never {
  const where = runId === null ? '' : ` GET /v1/runs/${runId} says how it ended.`
  refuse('conflict', {
    message: `This call was made, but its answer is not stored.${where} Use a new Idempotency-Key.`,
    metadata: { run_id: runId },
    headers: { 'x-should-retry': 'false' },
  })
}

/** The row of a call, with its answer if it is known already. */
export const callRowOf = (
  { replies, settings }: { replies: Pick<Replies, 'seal'>; settings: { node: string } },
  { scope, fingerprint }: Call,
  reply: Reply | undefined,
  now: Millis,
): IdempotentRow => ({
  scope,
  fingerprint,
  node: settings.node,
  runId: null,
  reply: reply ? replies.seal(scope, reply) : null,
  createdAt: now,
  until: now + keptMs,
})
