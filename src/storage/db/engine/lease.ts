/** Leases: the right of one process to do a singleton job for a while. */
import { and, eq, gt, like } from 'drizzle-orm'
import type { Millis } from '../../../kernel/clock.ts'
import { LostLease } from '../../../kernel/lost-lease.ts'
import { lockFound, type Query, rows, update, upsert, type Work } from '../sql/query-steps.ts'
import type { Db } from './db.ts'
import { type LeaseClock, leaseMs } from './lease-clock.ts'

/**
 * `epoch` grows with each new holder, and every write of the job checks it in its own transaction:
 * a holder that slept too long is fenced.
 */
export type Lease = { name: string; epoch: number }

/** The clock of leases: {@link LeaseClock} where several processes share a database. */
export type LeaseTime = Pick<LeaseClock, 'now'> & Partial<Pick<LeaseClock, 'refresh'>>

/**
 * Takes or renews a lease; undefined while another process holds it. Where this process owns the
 * file, any other holder is dead.
 */
export async function takeLease(
  db: Db,
  clock: LeaseTime,
  name: string,
  holder: string,
): Promise<Lease | undefined> {
  const { leases } = db.tables
  await clock.refresh?.()
  return db.write(function* () {
    const now = clock.now()
    const expiresAt = now + leaseMs
    // Two first takers at once: one adds the row, and the other finds it.
    const first = { name, holder, epoch: 1, expiresAt }
    yield* upsert(leases, [first], [])
    const [row] = yield* lockFound(leases, { name: [name] })
    if (!row) throw new Error(`the lease ${name} has no row`)
    if (row.holder !== holder && row.expiresAt > now && !db.exclusive) return undefined
    const epoch = row.holder === holder ? row.epoch : row.epoch + 1
    yield* update(leases, [{ name, holder, epoch, expiresAt }], ['holder', 'epoch', 'expiresAt'])
    return { name, epoch }
  })
}

/**
 * Releases all leases of a stopping process, so that others need not wait for them to expire.
 * Deletes the row of the process; singleton rows stay, because their epoch must not restart.
 */
export function dropLeases(db: Db, holder: string): Promise<void> {
  const { leases } = db.tables
  return db.write(function* (q) {
    const own = eq(leases.holder, holder)
    yield* rows(q.update(leases).set({ expiresAt: 0 }).where(own).returning())
    yield* rows(
      q
        .delete(leases)
        .where(eq(leases.name, nodeLease(holder)))
        .returning(),
    )
  })
}

/** The lease that says a process is alive. */
export const nodeLease = (node: string): string => `node:${node}`

/** The leases of the live processes of this database. */
export function* liveLeases(db: Db, q: Query, now: Millis) {
  const { leases } = db.tables
  const alive = and(like(leases.name, nodeLease('%')), gt(leases.expiresAt, now))
  return yield* rows(q.select().from(leases).where(alive))
}

/** The names of the live processes of this database. */
export function* liveNodes(db: Db, q: Query, now: Millis): Work<string[]> {
  return (yield* liveLeases(db, q, now)).map(({ holder }) => holder)
}

/** @throws LostLease; the transaction around it is undone. */
export function* assertLease(db: Db, lease: Lease, now: Millis): Work<void> {
  const [row] = yield* lockFound(db.tables.leases, { name: [lease.name] })
  if (row?.epoch !== lease.epoch || row.expiresAt <= now) {
    throw new LostLease(`the lease ${lease.name} was lost`)
  }
}
