/** Asks a PostgreSQL server over a fresh connection whether it takes writes. */
import { StorageFault } from '../../../kernel/storage-fault.ts'
import { serverFaultOf } from './server-fault.ts'

/** The longest a probe waits, in ms. */
const probeMs = 2000

/** The fault of a server that does not answer at all. */
export const silence = (): StorageFault => new StorageFault('storage_unreachable', 'SILENT')

/** Begins the code of a fault: a table that every command needs is locked. */
const lockCode = 'LOCK'

/** Whether a probe found a locked table. */
export const isTableLock = ({ code }: StorageFault): boolean => code.startsWith(lockCode)

/**
 * Whether the server takes writes, and a table that a session of ours waits for. A probe asks after
 * a statement has waited for seconds, so that a lock of a moment is hardly ever met.
 */
const question = `select current_setting('transaction_read_only') as mode,
  (select l.relation::regclass::text from pg_locks l join pg_stat_activity a using (pid)
    where not l.granted and l.locktype = 'relation' and a.datname = current_database()
      and a.usename = current_user limit 1) as locked`

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

/** How long a server may take for its first byte, in ms. */
const byteMs = 1000

/** PostgreSQL's question whether a server speaks TLS; any server answers it with one byte. */
const tlsQuestion = Uint8Array.of(0, 0, 0, 8, 4, 210, 22, 47)

/**
 * Whether no server speaks at the other end of a connection: a balancer took it, and has none to
 * pass it to. A server that takes no clients speaks.
 */
export async function isDeadEnd(url: string): Promise<boolean> {
  const { hostname = '', port = '' } = URL.parse(url) ?? {}
  if (hostname === '') return false
  const spoke = Promise.withResolvers<boolean>()
  const late = setTimeout(() => spoke.resolve(true), byteMs)
  const open = Bun.connect({
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || 5432),
    socket: {
      open: (socket) => void socket.write(tlsQuestion),
      data: () => spoke.resolve(false),
      error: () => spoke.resolve(false),
    },
  }).catch(() => spoke.resolve(false))
  const isDead = await spoke.promise
  clearTimeout(late)
  void open.then((socket) => socket?.end())
  return isDead
}
