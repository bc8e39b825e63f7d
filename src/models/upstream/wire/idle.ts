/** The pool of idle connections to one server. */

/** A connection as the pool of idle ones needs to know it. */
type Idle = { readonly account: string }

/** The most idle connections that one server keeps in all, and of one account. */
export const mostIdle = 2048
export const mostIdlePerAccount = 64

/** Idle connections to one server. An account is only given connections of its own. */
export type IdleLines<Line extends Idle> = {
  /** The connection of this account that was used last. */
  take(account: string): Line | undefined
  /** Keeps a connection. Returns the one that has to be closed for it, which may be itself. */
  keep(line: Line): Line | undefined
  remove(line: Line): void
}

/** Accounts that share connections count as one. */
export function makeIdleLines<Line extends Idle>(mostOfOne: number): IdleLines<Line> {
  /** All of them; the one that is idle for the longest time comes first. */
  const all = new Set<Line>()
  const byAccount = new Map<string, Line[]>()

  const remove = (line: Line): void => {
    if (!all.delete(line)) return
    const own = byAccount.get(line.account) ?? []
    own.splice(own.indexOf(line), 1)
    if (own.length === 0) byAccount.delete(line.account)
  }

  return {
    take(account) {
      const line = byAccount.get(account)?.at(-1)
      if (line) remove(line)
      return line
    },
    keep(line) {
      const own = byAccount.get(line.account)
      if (own && own.length >= mostOfOne) return line
      const evicted = all.size >= mostIdle ? all.values().next().value : undefined
      if (evicted) remove(evicted)
      all.add(line)
      // Looked up again: making room may have emptied the list.
      const list = byAccount.get(line.account)
      if (list) list.push(line)
      else byAccount.set(line.account, [line])
      return evicted
    },
    remove,
  }
}
