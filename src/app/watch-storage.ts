/** Watches the storage of a running service, and logs each change once. */
import type { Log } from '../kernel/log.ts'
import type { Db } from '../storage/db/engine/db.ts'
import { withLostConnections } from '../storage/db/engine/lost-connections.ts'
import type { Deps } from './deps-port.ts'

/** Logs each trouble of a database once, although jobs and clients meet it a thousand times. */
export function watched(timed: Db, log: Log) {
  timed.storage?.onChange((trouble) => {
    if (!trouble) return log.info('storage.recovered')
    const { reason, code, advice } = trouble
    log.error('storage.failed', trouble, { reason, code, advice })
  })
  return withLostConnections(timed)
}

/** Looks after the files of a database, and whether a server has connections for all of them. */
export async function watchStorage({ health, log }: Deps, { storage }: Db): Promise<void> {
  storage?.look()
  const isShort = storage?.isShort?.() === true
  if (isShort === (health.connections === 'few')) return
  health.connections = isShort ? 'few' : 'enough'
  if (isShort) log.warn('database.connections_few', { advice: fewAdvice })
  else log.info('database.connections_enough')
}

const fewAdvice =
  'PostgreSQL refused a connection more: raise its max_connections, or lower ' +
  'database_connections of the servers; meanwhile this one works with those it has'
