import { connect, createServer, type Socket } from 'node:net'

/** A TCP proxy in front of a database: the address that stays when the server behind it changes. */
export type Gate = {
  port: number
  /** Breaks every connection; new ones reach this port of loopback from now on. */
  pointAt(port: number): void
  /** Forwards no byte any more and keeps every connection open, new ones too. */
  silence(): void
  /** Forwards again, for new connections; silenced ones are broken. */
  speak(): void
  close(): Promise<void>
}

export async function openGate(target: number): Promise<Gate> {
  let port = target
  let isSilent = false
  const pairs = new Set<[Socket, Socket]>()
  const held = new Set<Socket>()
  const breakAll = () => {
    for (const pair of pairs) for (const socket of pair) socket.destroy()
    for (const socket of held) socket.destroy()
    pairs.clear()
    held.clear()
  }
  const server = createServer((client) => {
    client.on('error', () => {})
    if (isSilent) {
      held.add(client.pause())
      return
    }
    const remote = connect(port, '127.0.0.1')
    remote.on('error', () => {})
    const pair: [Socket, Socket] = [client, remote]
    pairs.add(pair)
    for (const [socket, other] of [pair, [remote, client] as const]) {
      socket.setNoDelay(true).pipe(other)
      socket.on('close', () => {
        // A vanished peer does not say goodbye.
        if (isSilent) return
        other.destroy()
        pairs.delete(pair)
      })
    }
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the gate has no port')
  return {
    port: address.port,
    pointAt(next) {
      port = next
      breakAll()
    },
    silence() {
      isSilent = true
      for (const pair of pairs) for (const socket of pair) socket.unpipe().pause()
    },
    speak() {
      isSilent = false
      breakAll()
    },
    async close() {
      breakAll()
      await new Promise((closed) => server.close(closed))
    },
  }
}
