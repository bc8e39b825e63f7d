/** Asks a PostgreSQL server over a fresh connection whether it takes writes. */
import { StorageFault } from '../../kernel/storage-fault.ts'
import { serverFaultOf } from './server-fault.ts'

/** The longest a probe waits, in ms. */
const probeMs = 2000

/** The fault of a server that does not answer at all. */
export const silence = (): StorageFault => new StorageFault('storage_unreachable', 'SILENT')

/** Begins the code of a fault: a table that every command needs is locked. */
const lockCode = 'LOCK'

/** Whether a probe found a locked table. */
export const isTableLock = ({ code }: StorageFault): boolean => code.startsWith(lockCode)

/** How long a statement has waited for a table before that counts, in seconds. */
const lockedForS = 4

/** Whether the server takes writes, and a table that a session of ours waits for. */
const question = `select current_setting('transaction_read_only') as mode,
  (select l.relation::regclass::text from pg_locks l join pg_stat_activity a using (pid)
    where not l.granted and l.locktype = 'relation' and a.datname = current_database()
      and a.usename = current_user
      and clock_timestamp() - a.query_start > interval '${lockedForS} seconds' limit 1) as locked`

/**
 * Uses its own connection, as a new pool would: another server may stand behind the name by now.
 * Returns undefined if the server takes writes.
 */
export async function probeServer(url: string): Promise<StorageFault | undefined> {
  const client = new Bun.SQL({ url, max: 1 })
  try {
    const asked = client.unsafe(question).simple()
    const answer = await Promise.race([asked, Bun.sleep(probeMs)])
    if (!answer) return silence()
    const [row] = answer as { mode: string; locked: string | null }[]
    if (row?.mode === 'on') return new StorageFault('storage_read_only', '25006')
    return row?.locked ? new StorageFault('storage_busy', `${lockCode} ${row.locked}`) : undefined
  } catch (error) {
    return serverFaultOf(error, false) ?? new StorageFault('storage_unreachable', 'PROBE')
  } finally {
    void client.close({ timeout: 0 }).catch(() => {})
  }
}
