/** A session: a browser that signed in. It ends after a day unused, or a week after it began. */
import type { Actor } from '../../kernel/acting.ts'
import { type Millis, toRfc3339 } from '../../kernel/clock.ts'
import { sha256Hex } from '../../kernel/hash.ts'
import type { Page, PageRequest } from '../../kernel/pagination.ts'
import type { Random } from '../../kernel/random.ts'
import type { ZoneName } from '../../kernel/zone.ts'
import type { AccountRow, AuditRow, SessionRow } from '../../storage/db/schema/schema.ts'
import type { SessionAnswer } from './shapes.ts'

export const idleMs = 24 * 3_600_000
export const lifeMs = 7 * 24 * 3_600_000

/** The precision of `last_seen_at`, in ms. */
export const seenEveryMs = 60_000

/** The client of a request, as a session and the audit keep it. */
export type Visitor = { clientAddress: string; userAgent: string; requestId: string }

/**
 * The value of a session cookie: 256 random bits. Only its hash is stored. A `mark` of two
 * characters begins it on a shard, and leaves 246 bits.
 */
export const newToken = (random: Random, mark = ''): string =>
  `${mark}${Buffer.from(random.bytes(32))
    .toString('base64url')
    .slice(0, tokenChars - mark.length)}`

const tokenChars = 43

/** Whether a text has the form of a token: checked before any look-up. */
export const isToken = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text)

export const hashToken = (token: string): string => sha256Hex(token)

/** A session, whom it acts for, and whether both its wallet and that account may act. */
export type FoundSession = { session: SessionRow; status: AccountRow['status']; acting: Actor }

type SessionOwner = Pick<SessionRow, 'id' | 'accountId'>

/** Sessions by wallet. Each change is written together with its audit entry. */
export type Sessions = {
  /** Opens a session, and ends the one with the token hash `replaced`. */
  open(session: SessionRow, replaced: string | undefined, audit: AuditRow): Promise<void>
  /** Opens a session in the place of one; false if that one ended meanwhile. */
  replace(session: SessionRow, replaced: string, audit: AuditRow): Promise<boolean>
  /**
   * The session of a token's hash; it may have ended and not been deleted yet. None if it acts by
   * a membership that is gone.
   */
  find(tokenHash: string): Promise<FoundSession | undefined>
  /** One live session of an account. */
  get(accountId: string, id: string, now: Millis): Promise<SessionRow | undefined>
  /** Keeps the time zone of a wallet's person. */
  setZone(wallet: string, zone: ZoneName): Promise<void>
  liveAmong(ids: string[], now: Millis): Promise<{ id: string }[]>
  /** The live sessions of an account, newest first. */
  list(accountId: string, page: PageRequest, now: Millis): Promise<Page<SessionRow>>
  /** Notes that a session is used; of many requests at once one writes. */
  noteSeen(id: string, now: Millis): Promise<unknown>
  /** Ends one session of an account; false if it was gone already. */
  end(session: SessionOwner, audit: AuditRow): Promise<boolean>
  /** Ends all sessions of an account but `kept`, and returns how many. */
  endOthers(kept: SessionOwner, audit: AuditRow): Promise<number>
  /** Writes the audit entry of a sign-in that opened no session. */
  note(audit: AuditRow): Promise<void>
  dropEnded(now: Millis): Promise<void>
}

type Times = Pick<SessionRow, 'expiresAt' | 'lastSeenAt'>

/** When a session ends unless it is used again. */
export const endOf = ({ expiresAt, lastSeenAt }: Times): Millis =>
  Math.min(expiresAt, lastSeenAt + idleMs)

export const isLive = (session: Times, now: Millis): boolean => now < endOf(session)

/** A session as its owner sees it. */
export function toSessionView(session: SessionRow, current: { id: string }): SessionAnswer {
  return {
    object: 'session',
    id: session.id,
    current: session.id === current.id,
    created_at: toRfc3339(session.createdAt),
    last_seen_at: toRfc3339(session.lastSeenAt),
    expires_at: toRfc3339(session.expiresAt),
    user_agent: session.userAgent,
    client_address: session.clientAddress,
  }
}
