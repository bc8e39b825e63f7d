/** Tells whoever watches an account that a run of it began or ended in this process. */
export type RunNotices = ReturnType<typeof runNotices>

export function runNotices() {
  const watchers = new Map<string, Set<() => void>>()
  return {
    tell(account: string): void {
      for (const watcher of watchers.get(account) ?? []) watcher()
    },
    /** Returns how to stop watching. */
    watch(account: string, watcher: () => void): () => void {
      const all = watchers.get(account) ?? new Set()
      watchers.set(account, all.add(watcher))
      return () => {
        all.delete(watcher)
        if (all.size === 0) watchers.delete(account)
      }
    },
    /** How many watch an account. */
    count: (account: string): number => watchers.get(account)?.size ?? 0,
  }
}
