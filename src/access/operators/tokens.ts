/** The store of operator tokens. Each change writes its audit entry. */
import type { Millis } from '../../kernel/clock.ts'
import type { AuditRow } from '../../storage/db/schema/schema.ts'
import type { OperatorToken } from './token.ts'

export type OperatorTokens = {
  add(token: OperatorToken, audit: AuditRow): Promise<void>
  /** Finds a token by the hash of its secret, or of the one before a rotation. */
  findByHash(hash: string): Promise<OperatorToken | undefined>
  find(id: string): Promise<OperatorToken | undefined>
  /** All of them, the oldest first. */
  list(): Promise<OperatorToken[]>
  /** Revokes a token; false if it is unknown or revoked already. */
  revoke(id: string, at: Millis, audit: AuditRow): Promise<boolean>
  /** Gives a token another secret; false if it was revoked, or has another secret than `from`. */
  rotate(
    id: string,
    secret: { from: string; hash: string; oldUntil: Millis },
    audit: AuditRow,
  ): Promise<boolean>
  /** Notes a use, with its audit entry. */
  noteUse(id: string, at: Millis, audit: AuditRow): Promise<void>
}
