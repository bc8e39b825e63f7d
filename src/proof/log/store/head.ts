import { sql } from 'drizzle-orm'
import type { Millis } from '../../../kernel/clock.ts'
import { fromHex, toHex } from '../../../kernel/hex.ts'
import type { Db } from '../../../storage/db/db.ts'
import { findFact, writeFact } from '../../../storage/db/facts.ts'
import { liveNodes } from '../../../storage/db/lease.ts'
import { prepared } from '../../../storage/db/query-steps.ts'
import type { KnownHead } from '../store.ts'

export type HeadStore = ReturnType<typeof headStore>

/** What nodes on one database tell each other of heads that it lacks. */
export function headStore(db: Db) {
  const { facts } = db.tables
  const lackedFact = (origin: string): string => `log.lacks/${origin}`
  return {
    /** A head that some node knows and found missing, if any ever did. */
    lacked: async (origin: string): Promise<KnownHead | undefined> => {
      const text = await findFact(db, lackedFact(origin))
      if (text === undefined) return undefined
      const [size, root = '', timestamp] = text.split(' ')
      return { size: Number(size), root: fromHex(root), timestamp: Number(timestamp) }
    },
    /** Tells all nodes, those that start later too, of a head that the database lacks. */
    tellLacked: async (origin: string, head: KnownHead): Promise<void> => {
      const text = `${head.size} ${toHex(head.root)} ${head.timestamp}`
      await db.write(() => writeFact(db, lackedFact(origin), text))
      await db.notices?.tell('log')
    },
    /**
     * Another text where a connection reaches another server, one that was started again, or
     * another database; undefined where there is no server.
     */
    server: async (): Promise<string | undefined> => {
      if (db.engine !== 'postgres') return undefined
      const [row] = await db.read((q) =>
        prepared('log.server', {}, () => q.select(name).from(facts).limit(1)),
      )
      return row?.name
    },
    /** How many processes live on this database; none where one owns the file. */
    liveNodes: async (now: Millis): Promise<number> =>
      db.exclusive ? 0 : (await db.read((q) => liveNodes(db, q, now))).length,
  }
}

/** Its start and the number of the database on it. */
const name = {
  name: sql<string>`(select concat(pg_postmaster_start_time(), ' ', oid)
    from pg_database where datname = current_database())`,
}
