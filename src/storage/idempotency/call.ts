import type { Deps } from '../../app/deps-port.ts'
import type { Millis } from '../../kernel/clock.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { IdempotentRow } from '../db/schema.ts'

/** Closes what the database keeps for a while, under keys that are not in it. */
export type Sealer = {
  /** Names the keys: what others closed, these cannot open. */
  name: string
  /** The same for equal texts, and nothing to try guesses with for whoever lacks the key. */
  fingerprint(text: string): string
  /** AES-256-GCM; what was closed for one place does not open at another. */
  seal(text: string, place: string): Uint8Array
  /** Undefined for what these keys did not close for this place. */
  open(sealed: Uint8Array, place: string): string | undefined
}

/**
 * A call with an Idempotency-Key is made once. That it was is written by the command that makes
 * something or holds money for it, and its answer by the command that ends that: so it is as true
 * as the money, whatever is killed when.
 */
export type Call = {
  /** A hash of who calls, which route, and the key. */
  scope: string
  /** Of the body that was sent. */
  fingerprint: string
}

/** An answer as it is given again. */
export type Reply = {
  status: number
  headers: Record<string, string>
  /** Null where it was too long to be kept. */
  body: string | null
}

/** How long a call stays made, in ms. */
const keptMs = 86_400_000

/** UTF-16 units of an answer that is kept; of a longer one only that it was given. */
export const replyMax = 4 * 1024 * 1024

/** Makes calls known and answers them again. */
export type Replies = ReturnType<typeof makeReplies>

export const makeReplies = (sealer: Sealer) => ({
  /** A fingerprint names the keys that it was made with, after which it can mean nothing. */
  fingerprint: (body: string): string => `${sealer.name}.${sealer.fingerprint(body)}`,
  seal(scope: string, { body, ...reply }: Reply): Uint8Array {
    const kept = body !== null && body.length > replyMax ? null : body
    return sealer.seal(JSON.stringify({ ...reply, body: kept }), scope)
  },
  /**
   * The answer of a call that was made before.
   * @throws Refusal `idempotency_mismatch` for another body, `idempotency_in_progress`, `conflict`
   * where the answer was not kept or cannot be read any more.
   */
  answerOf(known: IdempotentRow, call: Call): Reply & { body: string } {
    const byUs = known.fingerprint.startsWith(`${sealer.name}.`)
    if (byUs && known.fingerprint !== call.fingerprint) refuse('idempotency_mismatch')
    if (known.reply === null) refuse('idempotency_in_progress')
    const opened = sealer.open(known.reply, known.scope)
    const reply: Reply | undefined = opened === undefined ? undefined : JSON.parse(opened)
    if (typeof reply?.body !== 'string') return refuseAgain(known)
    return { ...reply, body: reply.body }
  },
})

/** Trying again cannot help: the call was made and stays made. */
function refuseAgain({ runId }: IdempotentRow): never {
  const where = runId === null ? '' : ` GET /v1/runs/${runId} says how it ended.`
  refuse('conflict', {
    message: `This call was made, but its answer is not kept.${where} Use a new Idempotency-Key.`,
    metadata: { run_id: runId },
    headers: { 'x-should-retry': 'false' },
  })
}

/** A call as it is kept, with its answer if that is known already. */
export const callRowOf = (
  { replies, settings }: Pick<Deps, 'replies' | 'settings'>,
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
