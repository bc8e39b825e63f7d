import type { Millis } from '../../kernel/clock.ts'
import { toRfc3339 } from '../../kernel/clock.ts'
import { sha256Hex } from '../../kernel/hash.ts'
import type { Random } from '../../kernel/random.ts'
import type { SessionRow } from '../../storage/db/schema.ts'

/** A session: a browser somebody signed in with. It ends unused, or at the latest after a week. */
export const idleMs = 24 * 3_600_000
export const lifeMs = 7 * 24 * 3_600_000

/** How exactly `last_seen_at` is kept. */
export const seenEveryMs = 60_000

/** Who is at the other end, as far as a session and the audit remember. */
export type Visitor = { clientAddress: string; userAgent: string; requestId: string }

/** What a cookie carries: 256 random bits, of which only the hash is stored. */
export const newToken = (random: Random): string =>
  Buffer.from(random.bytes(32)).toString('base64url')

/** Whether a cookie can be one of ours; cheap enough to ask before any look-up. */
export const isToken = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text)

export const hashToken = (token: string): string => sha256Hex(token)

type Times = Pick<SessionRow, 'expiresAt' | 'lastSeenAt'>

/** When a session ends if nothing more is done with it. */
export const endOf = ({ expiresAt, lastSeenAt }: Times): Millis =>
  Math.min(expiresAt, lastSeenAt + idleMs)

export const isLive = (session: Times, now: Millis): boolean => now < endOf(session)

/** A session as its owner sees it. */
export function toSessionView(session: SessionRow, current: { id: string }) {
  return {
    object: 'session' as const,
    id: session.id,
    current: session.id === current.id,
    created_at: toRfc3339(session.createdAt),
    last_seen_at: toRfc3339(session.lastSeenAt),
    expires_at: toRfc3339(session.expiresAt),
    user_agent: session.userAgent,
    client_address: session.clientAddress,
  }
}
