/** Stores which nodes see a trouble. Sends an event for the first node and after the last one. */
import { like } from 'drizzle-orm'
import type { Millis } from '../../../kernel/clock.ts'
import type { Db } from '../../../storage/db/engine/db.ts'
import { type LeaseTime, liveNodes } from '../../../storage/db/engine/lease.ts'
import { newestBackup, staleBackupMs } from '../../../storage/db/files/backup.ts'
import { ensureFactIn, lockFact, writeFact } from '../../../storage/db/sql/facts.ts'
import { rows, type Work } from '../../../storage/db/sql/query-steps.ts'
import type { OperatorEventType } from '../../../storage/outbox/event.ts'
import { addEvents } from '../../../storage/outbox/store.ts'
import type { Trouble } from '../trouble.ts'

export type TroubleStore = ReturnType<typeof troubleStore>

/** The stored fact of a trouble: the nodes that see it, and the event for its end. */
type TroubleState = {
  nodes: string[]
  ended?: OperatorEventType
  subject: string
  data: Trouble['data']
}

const prefix = 'trouble:'

export function troubleStore(db: Db, { clock, node }: { clock: LeaseTime; node: string }) {
  const { facts } = db.tables

  const tell = (type: OperatorEventType, { subject, data }: TroubleState, now: Millis) =>
    addEvents(db.tables, [{ type, account: '', subject, data }], now)

  function* keep(name: string, kept: TroubleState, now: Millis): Work<void> {
    if (kept.nodes.length === 0 && kept.ended) yield* tell(kept.ended, kept, now)
    yield* writeFact(db, prefix + name, kept.nodes.length === 0 ? '' : JSON.stringify(kept))
  }

  function* read(name: string): Work<TroubleState | undefined> {
    const value = yield* lockFact(db, prefix + name)
    return value ? JSON.parse(value) : undefined
  }

  return {
    newestBackup: async (now: Millis) => {
      const takenAt = await newestBackup(db)
      if (takenAt === undefined) return undefined
      return { takenAt, isStale: now - Date.parse(takenAt) > staleBackupMs }
    },
    /** Notes a change in what this node sees. */
    note: ({ name, isThere, began, ended, subject, data }: Trouble, now: Millis): Promise<void> =>
      db.write(function* (q) {
        if (isThere) yield* ensureFactIn(db, q, prefix + name, '')
        const kept = yield* read(name)
        if (isThere === (kept?.nodes.includes(node) ?? false)) return
        const others = kept?.nodes.filter((one) => one !== node) ?? []
        const nodes = isThere ? [...others, node] : others
        const next = { nodes, subject, data, ...(ended && { ended }) }
        if (!kept) yield* tell(began, next, now)
        yield* keep(name, next, now)
      }),
    /** The troubles that living nodes see. */
    standing: (now: Millis): Promise<{ name: string; data: Trouble['data'] }[]> =>
      db.read(function* (q) {
        const found = yield* rows(
          q
            .select()
            .from(facts)
            .where(like(facts.name, `${prefix}%`)),
        )
        const alive = yield* liveNodes(db, q, now)
        return found.flatMap(({ name, value }) => {
          const kept: TroubleState | undefined = value === '' ? undefined : JSON.parse(value)
          const isSeen = kept?.nodes.some((one) => alive.includes(one)) ?? false
          return kept && isSeen ? [{ name: name.slice(prefix.length), data: kept.data }] : []
        })
      }),
    /** Ends troubles that only dead nodes saw. */
    forgetDead: (now: Millis): Promise<void> =>
      db.write(function* (q) {
        const found = yield* rows(
          q
            .select()
            .from(facts)
            .where(like(facts.name, `${prefix}%`)),
        )
        const names = found.filter(({ value }) => value !== '').map((one) => one.name)
        if (names.length === 0) return
        const alive = new Set([...(yield* liveNodes(db, q, clock.now())), node])
        for (const name of names.map((one) => one.slice(prefix.length)).sort()) {
          const kept = yield* read(name)
          const nodes = kept?.nodes.filter((one) => alive.has(one)) ?? []
          if (kept && nodes.length < kept.nodes.length) yield* keep(name, { ...kept, nodes }, now)
        }
      }),
  }
}
