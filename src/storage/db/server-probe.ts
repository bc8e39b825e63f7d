/** Asks a PostgreSQL server over a fresh connection whether it takes writes. */
import { StorageFault } from '../../kernel/storage-fault.ts'
import { serverFaultOf } from './server-fault.ts'

/** The longest a probe waits, in ms. */
const probeMs = 2000

/** The fault of a server that does not answer at all. */
export const silence = (): StorageFault => new StorageFault('storage_unreachable', 'SILENT')

/**
 * Uses its own connection, as a new pool would: another server may stand behind the name by now.
 * Returns undefined if the server takes writes.
 */
export async function probeServer(url: string): Promise<StorageFault | undefined> {
  const client = new Bun.SQL({ url, max: 1 })
  try {
    const mode = client.unsafe(`select current_setting('transaction_read_only') as mode`).simple()
    const answer = await Promise.race([mode, Bun.sleep(probeMs)])
    if (!answer) return silence()
    const [row] = answer as { mode: string }[]
    return row?.mode === 'on' ? new StorageFault('storage_read_only', '25006') : undefined
  } catch (error) {
    return serverFaultOf(error, false) ?? new StorageFault('storage_unreachable', 'PROBE')
  } finally {
    void client.close({ timeout: 0 }).catch(() => {})
  }
}
