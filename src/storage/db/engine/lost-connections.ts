/** Reports a changed server behind a proxy as a lost connection. */
import type { Db } from './db.ts'

/**
 * Wraps a database: `distrust` also calls its listeners of lost connections, because behind a proxy
 * no connection breaks when another server takes over.
 */
export function withLostConnections(db: Db): { db: Db; distrust: () => void } {
  const listeners: (() => void)[] = []
  const distrust = (): void => {
    for (const listener of listeners) listener()
  }
  db.onConnectionLost(distrust)
  return {
    db: { ...db, onConnectionLost: (listener) => void listeners.push(listener) },
    distrust,
  }
}
