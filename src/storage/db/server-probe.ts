import { StorageFault } from '../../kernel/storage-fault.ts'
import { serverFaultOf } from './server-fault.ts'

/** How long a probe waits for the whole answer, in ms. */
const probeMs = 2000

/** A server that sends nothing at all, not even a refusal. */
export const silence = (): StorageFault => new StorageFault('storage_unreachable', 'SILENT')

/**
 * Asks over a connection of its own, as the next statement of a new pool would find the server:
 * behind one name there may be another one by now. Undefined when it takes writes.
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
