/** The set-up links that were printed, and how they end. */
import type { Millis } from '../../kernel/clock.ts'

export type SetupLink = { hash: string; issuedAt: Millis; expiresAt: Millis }

/** Links that were printed. Only their hashes are stored. */
export type SetupLinks = {
  /** Whether the service has no account yet, on any node. */
  isNewService(): Promise<boolean>
  add(link: SetupLink): Promise<void>
  /** Adds a link in the place of all others. */
  replace(link: SetupLink): Promise<void>
  find(hash: string, now: Millis): Promise<SetupLink | undefined>
  /** Uses up all links with this one. True for one caller only, on all nodes. */
  take(hash: string, now: Millis): Promise<boolean>
}
