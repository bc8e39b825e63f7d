import type { Socket, TCPSocketListener } from 'bun'

/** What a proxy passes bytes on to. */
export type Target = { hostname: string; port: number }

/** What a half of a connection knows of the other one. */
type Half = { other?: Socket<Half>; pending: Uint8Array[] }

export type SilentProxy = ReturnType<typeof startSilentProxy>

/**
 * A TCP proxy whose peer can vanish without a word: while it is silent it keeps its sockets open,
 * accepts new ones, and drops every byte, as a network does that drops packets. Connections from
 * before or during a silence stay dead; those made after it are passed on.
 */
export function startSilentProxy(target: Target) {
  let to = target
  let isSilent = false
  /** A word of a client at which something happens, and whether its bytes still arrive. */
  let last: { word: string; arrives: boolean; act: (from: Socket<Half>) => void } | undefined
  const dead = new WeakSet<Socket<Half>>()
  const open = new Set<Socket<Half>>()

  const forward = (from: Socket<Half>, bytes: Uint8Array): void => {
    if (isSilent) dead.add(from)
    const { other, pending } = from.data
    if (last && Buffer.from(bytes).includes(last.word)) {
      const { arrives, act } = last
      last = undefined
      if (arrives) other?.write(bytes)
      act(from)
      return
    }
    if (dead.has(from) || (other && dead.has(other))) return
    // Bun reuses its buffer after the call.
    pending.push(bytes.slice())
    if (other) flush(from, other)
  }
  /** Writes what `from` said to `to`; the rest waits until that drains. */
  const flush = (from: Socket<Half>, to: Socket<Half>): void => {
    const { pending } = from.data
    for (let next = pending.shift(); next; next = pending.shift()) {
      const written = to.write(next)
      if (written < next.length) {
        pending.unshift(next.subarray(Math.max(written, 0)))
        return
      }
    }
  }
  const drain = (socket: Socket<Half>): void => {
    if (socket.data.other) flush(socket.data.other, socket)
  }
  const close = (socket: Socket<Half>): void => {
    open.delete(socket)
    const { other } = socket.data
    // The other side of a dead connection never hears of its end.
    if (isSilent || dead.has(socket) || (other && dead.has(other))) return
    other?.end()
  }

  const vanish = (): void => {
    isSilent = true
    for (const socket of open) dead.add(socket)
  }

  const listener: TCPSocketListener<Half> = Bun.listen<Half>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open(client) {
        client.data = { pending: [] }
        open.add(client)
        if (isSilent) {
          dead.add(client)
          return
        }
        void Bun.connect<Half>({
          ...to,
          data: { other: client, pending: [] },
          socket: {
            open(server) {
              open.add(server)
              client.data.other = server
              flush(client, server)
            },
            data: forward,
            drain,
            close,
            error: () => {},
            connectError: () => void client.end(),
          },
        }).catch(() => void client.end())
      },
      data: forward,
      drain,
      close,
      error: () => {},
    },
  })

  return {
    port: listener.port,
    /** The address of a database with the proxy in front of its server. */
    urlOf(database: string): string {
      const url = new URL(database)
      url.hostname = '127.0.0.1'
      url.port = String(listener.port)
      return url.href
    },
    /** From now on not a byte passes, and no connection is made or ended. */
    vanish,
    /** Does so with the next bytes that hold a word; `arrives` says whether these still pass. */
    vanishAt(word: string, arrives: boolean): void {
      last = { word, arrives, act: vanish }
    },
    /** Ends only the connection over which such bytes come. */
    cutAt(word: string, arrives: boolean): void {
      last = { word, arrives, act: (from) => void from.terminate() }
    },
    /** New connections are passed on again, to another server if one is named. */
    comeBack(target?: Target): void {
      to = target ?? to
      isSilent = false
    },
    /** Breaks every connection; new ones are passed on to another server. */
    moveTo(target: Target): void {
      to = target
      for (const socket of open) socket.terminate()
    },
    stop(): void {
      listener.stop(true)
      for (const socket of open) socket.terminate()
    },
  }
}

/** Where the server of a database listens. */
export function targetOf(database: string): Target {
  const { hostname, port } = new URL(database)
  return { hostname, port: Number(port || 5432) }
}
