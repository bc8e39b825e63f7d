/** The `doctor` checks of what several servers share: moves of slots, and connections. */
import { configDigest, readConfigDigests } from '../app/config-digest.ts'
import type { Config } from '../config/config.ts'
import { systemClock } from '../kernel/clock.ts'
import { readConnectionRoom } from '../storage/db/engine/connection-room.ts'
import type { Db } from '../storage/db/engine/db.ts'
import { liveNodes } from '../storage/db/engine/lease.ts'
import { openLeaseClock } from '../storage/db/engine/lease-clock.ts'
import { slotsText } from '../storage/slots/slot-text.ts'
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

/** Whether PostgreSQL takes as many connections as all servers of the database may open. */
export async function lookAtConnections(config: Config, db: Db): Promise<Finding[]> {
  const room = await readConnectionRoom(db)
  if (room === undefined) return []
  const { now } = await openLeaseClock(db, systemClock)
  const alive = (await db.read((q) => liveNodes(db, q, now()))).length
  const nodes = Math.max(1, alive)
  const needed = nodes * (config.database_connections + beside)
  const words = `${nodes} servers may open ${needed} connections, and PostgreSQL takes ${room}.`
  if (needed <= room) return [fine('connections', words)]
  return [warning('connections', words, 'raise max_connections, or lower database_connections')]
}

/** Whether the running servers sell what this configuration file says. */
export async function lookAtConfigDigests(config: Config, db: Db): Promise<Finding[]> {
  const { now } = await openLeaseClock(db, systemClock)
  const alive = await db.read((q) => liveNodes(db, q, now()))
  const digests = await readConfigDigests(db)
  const running = alive.flatMap((node) => {
    const digest = digests.get(node)
    return digest === undefined ? [] : [{ node, digest }]
  })
  if (running.length === 0) return []
  const own = configDigest(config)
  const others = running.filter(({ digest }) => digest !== own)
  if (others.length === 0) {
    return [
      fine('configuration', 'All running servers have the models and upstreams of this file.'),
    ]
  }
  const named = others.map(({ node, digest }) => `${node} (${digest.slice(0, 8)})`).join(', ')
  const words = `Other models, plans or upstreams than this file (${own.slice(0, 8)}): ${named}.`
  return [warning('configuration', words, 'kill -HUP the server, or give it the same file')]
}
