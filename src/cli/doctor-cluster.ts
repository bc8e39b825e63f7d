/** The `doctor` checks of what several servers share: moves of slots, and connections. */
import { sql } from 'drizzle-orm'
import type { Config } from '../config/config.ts'
import { systemClock } from '../kernel/clock.ts'
import { slotsText } from '../kernel/slot-text.ts'
import type { Db } from '../storage/db/db.ts'
import { liveNodes } from '../storage/db/lease.ts'
import { openLeaseClock } from '../storage/db/lease-clock.ts'
import { prepared } from '../storage/db/query-steps.ts'
import { stalledMoves } from '../storage/slots/store/move-lease.ts'
import { type Finding, failure, fine, warning } from './finding.ts'

/** A move of slots whose command died keeps the accounts of the slots waiting. */
export async function lookAtMoves(db: Db): Promise<Finding[]> {
  const { now } = await openLeaseClock(db, systemClock)
  return (await db.read((q) => stalledMoves(db, q, now()))).map(({ id, slots, way, peer }) => {
    const named = slotsText(slots)
    const where = way === 'out' ? `to ${peer}` : `from ${peer}`
    const words = `No command goes on with ${id}, which moves the slots ${named} ${where}.`
    return failure('slots', words, `counterfoil slot move ${named} --to-config …, once more`)
  })
}

/** Connections that a server opens beside its pool: for notices, and for probes. */
const beside = 2

const limits = {
  most: sql<string>`current_setting('max_connections')`,
  kept: sql<string>`current_setting('superuser_reserved_connections')`,
}

/** Whether PostgreSQL takes as many connections as all servers of the database may open. */
export async function lookAtConnections(config: Config, db: Db): Promise<Finding[]> {
  if (db.engine !== 'postgres') return []
  const { facts } = db.tables
  const { now } = await openLeaseClock(db, systemClock)
  const alive = (await db.read((q) => liveNodes(db, q, now()))).length
  const [row] = await db.read((q) =>
    prepared('connection_limits', {}, () => q.select(limits).from(facts).limit(1)),
  )
  if (!row) return []
  const room = Number(row.most) - Number(row.kept)
  const nodes = Math.max(1, alive)
  const needed = nodes * (config.database_connections + beside)
  const words = `${nodes} servers may open ${needed} connections, and PostgreSQL takes ${room}.`
  if (needed <= room) return [fine('connections', words)]
  return [warning('connections', words, 'raise max_connections, or lower database_connections')]
}
