/** The SQL of the terminal: asks per client and day, and the sponsor's daily grants. */
import { and, eq, gt, lt, sql } from 'drizzle-orm'
import type { Millis } from '../../kernel/clock.ts'
import type { Db } from '../../storage/db/engine/db.ts'
import { first, rows } from '../../storage/db/sql/query-steps.ts'

export type TerminalStore = {
  /** Number of asks of a client on a day. */
  used(day: Millis, client: string): Promise<number>
  /** Counts one more ask atomically; undefined if `most` are already counted. */
  take(day: Millis, client: string, most: number): Promise<number | undefined>
  /** Uncounts one ask. */
  giveBack(day: Millis, client: string): Promise<void>
  /** Deletes the counts before a day. */
  dropBefore(day: Millis): Promise<void>
  /** Whether a grant of that reference was booked for an account, or noted by this process. */
  isGranted(account: string, ref: string): Promise<boolean>
  /** Notes the last grant, also one that the balance did not need and that booked no transfer. */
  noteGrant(account: string, ref: string): void
}

export function terminalStore(db: Db): TerminalStore {
  const { terminalAllowances: allowances, transfers } = db.tables
  const target = [allowances.day, allowances.client]
  const ofClient = (day: Millis, client: string) =>
    and(eq(allowances.day, day), eq(allowances.client, client))

  let granted: string | undefined

  return {
    used: async (day, client) => {
      const found = await db.read((q) =>
        first(q.select({ used: allowances.used }).from(allowances).where(ofClient(day, client))),
      )
      return found?.used ?? 0
    },
    take: async (day, client, most) => {
      if (most < 1) return undefined
      const set = { used: sql`${allowances.used} + 1` }
      const found = await db.write((q) =>
        rows(
          q
            .insert(allowances)
            .values({ day, client, used: 1 })
            .onConflictDoUpdate({ target, set, setWhere: lt(allowances.used, most) })
            .returning({ used: allowances.used }),
        ),
      )
      return found[0]?.used
    },
    giveBack: async (day, client) => {
      const counted = and(ofClient(day, client), gt(allowances.used, 0))
      const less = { used: sql`${allowances.used} - 1` }
      await db.write((q) =>
        rows(q.update(allowances).set(less).where(counted).returning({ day: allowances.day })),
      )
    },
    dropBefore: async (day) => {
      await db.write((q) =>
        rows(
          q.delete(allowances).where(lt(allowances.day, day)).returning({ day: allowances.day }),
        ),
      )
    },
    isGranted: async (account, ref) => {
      if (granted === `${account} ${ref}`) return true
      const booked = and(
        eq(transfers.accountId, account),
        eq(transfers.ref, ref),
        eq(transfers.kind, 'grant'),
      )
      const some = { ref: transfers.ref }
      const found = await db.read((q) => first(q.select(some).from(transfers).where(booked)))
      return found !== undefined
    },
    noteGrant(account, ref) {
      granted = `${account} ${ref}`
    },
  }
}
