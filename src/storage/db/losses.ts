import type { Db } from './db.ts'

/**
 * The same database, whose listeners of lost connections are told by `distrust` too: where a proxy
 * keeps the connections, none of them breaks when another server takes over behind it.
 */
export function withLosses(db: Db): { db: Db; distrust: () => void } {
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
