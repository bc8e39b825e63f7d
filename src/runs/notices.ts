/** Tells watchers of an account that one of its runs began or ended in this process. */
export type RunNotices = {
  tell(account: string): void
  /** Returns a function that stops watching. */
  watch(account: string, watcher: () => void): () => void
  /** The number of watchers of an account. */
  count(account: string): number
}

export function runNotices(): RunNotices {
  const watchers = new Map<string, Set<() => void>>()
  return {
    tell(account) {
      for (const watcher of watchers.get(account) ?? []) watcher()
    },
    watch(account, watcher) {
      const all = watchers.get(account) ?? new Set()
      watchers.set(account, all.add(watcher))
      return () => {
        all.delete(watcher)
        if (all.size === 0) watchers.delete(account)
      }
    },
    count: (account) => watchers.get(account)?.size ?? 0,
  }
}
