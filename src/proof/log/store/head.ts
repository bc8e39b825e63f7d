/** Shares heads that the database lacks among the nodes that use it. */
import { sql } from 'drizzle-orm'
import type { Millis } from '../../../kernel/clock.ts'
import { fromHex, toHex } from '../../../kernel/hex.ts'
import type { Db } from '../../../storage/db/db.ts'
import { findFact, writeFact } from '../../../storage/db/facts.ts'
import { liveNodes } from '../../../storage/db/lease.ts'
import { prepared } from '../../../storage/db/query-steps.ts'
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
  /** The number of live processes on this database; 0 if one owns the file. */
  liveNodes(now: Millis): Promise<number>
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
    liveNodes: async (now) =>
      db.exclusive ? 0 : (await db.read((q) => liveNodes(db, q, now))).length,
  }
}

/** The server's start time and the database's oid. */
const name = {
  name: sql<string>`(select concat(pg_postmaster_start_time(), ' ', oid)
    from pg_database where datname = current_database())`,
}
