/** Tells whether a PostgreSQL server can lose an acknowledged COMMIT. */
import { sql } from 'drizzle-orm'
import { prepared } from '../sql/query-steps.ts'
import type { Db } from './db.ts'

/** The durability settings of a server, as far as this role may see them. */
export type Replication = {
  /** Connected standbys. */
  standbys: number
  /** `synchronous_commit`. */
  commit: string
  /** `synchronous_standby_names`; empty when a COMMIT waits for no standby. */
  names: string
  /** `fsync`. */
  syncs: boolean
}

const columns = {
  standbys: sql<string>`(select count(*) from pg_stat_replication
    where state is distinct from 'backup')`,
  commit: sql<string>`current_setting('synchronous_commit')`,
  names: sql<string>`current_setting('synchronous_standby_names')`,
  fsync: sql<string>`current_setting('fsync')`,
}

/** Undefined on SQLite, and on a database without any fact. */
export async function readReplication(db: Db): Promise<Replication | undefined> {
  if (db.engine !== 'postgres') return undefined
  const { facts } = db.tables
  const [row] = await db.read((q) =>
    prepared('replication', {}, () => q.select(columns).from(facts).limit(1)),
  )
  if (!row) return undefined
  const { standbys, commit, names, fsync } = row
  return { standbys: Number(standbys), commit, names, syncs: fsync === 'on' }
}

/** How this server can lose a COMMIT that was acknowledged; undefined where it cannot. */
export function replicationFault(found: Replication): string | undefined {
  const { standbys, commit, names, syncs } = found
  if (!syncs) return 'fsync is off: a crash of the database server loses acknowledged runs'
  if (commit === 'off') {
    return 'synchronous_commit is off: a crash of the database server loses acknowledged runs'
  }
  const isWaiting = names !== '' && commit !== 'local'
  if (standbys === 0 || isWaiting) return undefined
  return 'a standby follows asynchronously: a failover to it loses acknowledged runs'
}

/** The settings that fix every {@link replicationFault}. */
export const replicationFix =
  'set fsync = on, synchronous_commit = on and, with a standby, synchronous_standby_names'
