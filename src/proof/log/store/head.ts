/** Shares heads that the database lacks among the nodes that use it. */
import { sql } from 'drizzle-orm'
import type { Millis } from '../../../kernel/clock.ts'
import { fromHex, toHex } from '../../../kernel/hex.ts'
import type { Db } from '../../../storage/db/engine/db.ts'
import { liveLeases } from '../../../storage/db/engine/lease.ts'
import { findFact, writeFact } from '../../../storage/db/sql/facts.ts'
import { prepared } from '../../../storage/db/sql/query-steps.ts'
import type { KnownHead } from '../store.ts'

export type HeadStore = {
  /** A head that some node knows and found missing. */
  lacked(origin: string): Promise<KnownHead | undefined>
  /** Tells all nodes, later ones too, of a head that the database lacks. */
  tellLacked(origin: string, head: KnownHead): Promise<void>
  /**
   * Identifies the server and database of a connection: changes with another server, a restart or
   * another database. Undefined without a server.
   */
  server(): Promise<string | undefined>
  /** When the lease of each live process of this database ends; empty if one owns the file. */
  leases(now: Millis): Promise<ReadonlyMap<string, Millis>>
}

export function headStore(db: Db): HeadStore {
  const { facts } = db.tables
  const lackedFact = (origin: string): string => `log.lacks/${origin}`
  return {
    lacked: async (origin) => {
      const text = await findFact(db, lackedFact(origin))
      if (text === undefined) return undefined
      const [size, root = '', timestamp] = text.split(' ')
      return { size: Number(size), root: fromHex(root), timestamp: Number(timestamp) }
    },
    tellLacked: async (origin, head) => {
      const text = `${head.size} ${toHex(head.root)} ${head.timestamp}`
      await db.write(() => writeFact(db, lackedFact(origin), text))
      await db.notices?.tell('log')
    },
    server: async () => {
      if (db.engine !== 'postgres') return undefined
      const [row] = await db.read((q) =>
        prepared('log.server', {}, () => q.select(name).from(facts).limit(1)),
      )
      return row?.name
    },
    leases: async (now) => {
      if (db.exclusive) return new Map()
      const alive = await db.read((q) => liveLeases(db, q, now))
      return new Map(alive.map(({ holder, expiresAt }) => [holder, expiresAt]))
    },
  }
}

/** The server's start time and the database's oid. */
const name = {
  name: sql<string>`(select concat(pg_postmaster_start_time(), ' ', oid)
    from pg_database where datname = current_database())`,
}
