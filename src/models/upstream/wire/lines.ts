/** Opens, reuses and closes connections to one server. */
import { isIP } from 'node:net'
import type { Socket } from 'bun'
import { systemClock } from '../../../kernel/clock.ts'
import { makeIdleLines, mostIdle, mostIdlePerAccount } from './idle.ts'

/** One connection. Its user hears of it. */
export type Line = {
  /** It carries requests of this account alone. */
  readonly account: string
  socket: Socket<Line> | undefined
  user: LineUser | undefined
  /** Whether any byte of the current request was handed to the system. */
  isWritten: boolean
  isClosed: boolean
  /** The time it became idle, in ms of the monotonic clock; undefined before its first answer. */
  idleSince: number | undefined
  /** How long it may be reused from then on, in ms. */
  reusedMs: number
  /** The bytes that the system's buffers did not take yet. */
  unsent: Buffer | undefined
}

/** The exchange that a connection serves. */
export type LineUser = {
  readonly account: string
  /** It is about to be opened. Cut it if it is no longer wanted, now or later. */
  connect(line: Line): void
  /** It may be written to. */
  send(line: Line): void
  take(bytes: Buffer): void
  /** It is over. `isClean`: its server ended it, as it may. `error` is what its socket says. */
  lose(isClean: boolean, error?: unknown): void
}

/** Connections to one server. Each belongs to one account, and is kept for its next request. */
export type Lines = {
  /** An idle connection of the user's account, or a new one. */
  take(user: LineUser): void
  takeNew(user: LineUser): void
  /**
   * Keeps it for the next request; all bytes of the current exchange were sent and read. `saidMs`
   * is how long its server says that it keeps it.
   */
  keep(line: Line, saidMs?: number): void
  cut(line: Line): void
  send(line: Line, request: string): void
}

/** `name` is what its certificate says; `hostname` may be an address of it. */
export type Server = {
  name: string
  hostname: string
  port: number
  isSecure: boolean
  isShared: boolean
}

/**
 * How long an idle connection is reused, in ms, if its server says nothing. Common servers close
 * theirs after 5 s; a request that is written at that moment fails, because it may have been heard.
 */
const usualReusedMs = 4000
/** The longest that one is reused, and how long before its server closes it. */
const mostReusedMs = 60_000
const earlierMs = 1000

const reusedMsOf = (saidMs: number | undefined): number =>
  saidMs === undefined ? usualReusedMs : Math.min(mostReusedMs, saidMs - earlierMs)

/**
 * When the system closes an idle connection, in s. It counts steps of 4 s and begins within one, so
 * that 4 s could end at once: 8 s last for 4 s at least.
 */
const closedSeconds = (reusedMs: number): number => Math.ceil(reusedMs / 1000) + 4

export function makeLines({ name, hostname, port, isSecure, isShared }: Server): Lines {
  const idle = makeIdleLines<Line>(isShared ? mostIdle : mostIdlePerAccount)
  const serverName = isIP(name) === 0 ? { serverName: name } : {}
  // Said aloud, because an environment variable could switch the default off.
  const tls = isSecure ? { tls: { rejectUnauthorized: true, ...serverName } } : {}

  const lose = (line: Line, isClean: boolean, error?: unknown): void => {
    if (line.isClosed) return
    line.isClosed = true
    const { user } = line
    forget(line)
    if (user) user.lose(isClean, error)
    else idle.remove(line)
  }
  const cut = (line: Line): void => {
    if (line.isClosed) return
    line.isClosed = true
    const { socket } = line
    forget(line)
    idle.remove(line)
    socket?.terminate()
  }
  /** Writes text as it is: the system nearly always takes all, so its bytes are not needed. */
  const send = (line: Line, bytes: string | Buffer): void => {
    const sent = Math.max(0, line.socket?.write(bytes) ?? 0)
    if (sent > 0) line.isWritten = true
    const rest = sent < Buffer.byteLength(bytes) ? bytes : undefined
    line.unsent = (typeof rest === 'string' ? Buffer.from(rest) : rest)?.subarray(sent)
  }
  const handlers = {
    open(socket: Socket<Line>) {
      const line = socket.data
      // Its user gave up meanwhile.
      if (line.isClosed) return socket.terminate()
      line.socket = socket
      if (!isSecure) line.user?.send(line)
    },
    handshake(socket: Socket<Line>, isTrusted: boolean, error: Error | null) {
      if (isTrusted && !error) return socket.data.user?.send(socket.data)
      lose(socket.data, false, error ?? untrusted)
      socket.terminate()
    },
    data({ data: line }: Socket<Line>, bytes: Buffer) {
      if (line.user) line.user.take(bytes)
      // Bytes on an idle connection answer no request.
      else cut(line)
    },
    drain: ({ data: line }: Socket<Line>) => void (line.unsent && send(line, line.unsent)),
    timeout({ data: line }: Socket<Line>) {
      if (!line.user) cut(line)
    },
    close: ({ data: line }: Socket<Line>, error?: unknown) => lose(line, !error),
    error: ({ data: line }: Socket<Line>) => lose(line, false),
    connectError: ({ data: line }: Socket<Line>, error: unknown) => lose(line, false, error),
  }
  const takeNew = (user: LineUser): void => {
    const data: Line = {
      account: user.account,
      socket: undefined,
      user,
      isWritten: false,
      isClosed: false,
      idleSince: undefined,
      reusedMs: 0,
      unsent: undefined,
    }
    user.connect(data)
    if (data.isClosed) return
    Bun.connect({ hostname, port, ...tls, socket: handlers, data }).catch((error) =>
      lose(data, false, error),
    )
  }
  const reuse = (line: Line, user: LineUser): void => {
    line.user = user
    line.socket?.timeout(0)
    line.socket?.ref()
    user.send(line)
  }
  const reuseLater = afterPoll<{ line: Line; user: LineUser }>(({ line, user }) =>
    line.isClosed ? takeNew(user) : reuse(line, user),
  )

  return {
    take(user) {
      const line = idle.take(user.account)
      if (!line) return takeNew(user)
      if (systemClock.monotonic() - (line.idleSince ?? 0) > line.reusedMs) {
        cut(line)
        return takeNew(user)
      }
      reuseLater({ line, user })
    },
    takeNew,
    keep(line, saidMs) {
      line.reusedMs = reusedMsOf(saidMs)
      if (line.unsent || line.isClosed || line.reusedMs <= 0) return cut(line)
      line.user = undefined
      line.isWritten = false
      line.idleSince = systemClock.monotonic()
      line.socket?.timeout(closedSeconds(line.reusedMs))
      // An idle connection does not keep the process running.
      line.socket?.unref()
      const evicted = idle.keep(line)
      if (evicted) cut(evicted)
    },
    cut,
    send,
  }
}

/**
 * Does `work` with each item after the event loop has polled its sockets once more, so that bytes
 * and closes the system already holds have been seen. The first callback runs before the next
 * poll, the second one after it. Items of one turn share both.
 */
function afterPoll<T>(work: (item: T) => void): (item: T) => void {
  let waiting: T[] = []
  const workAll = (items: T[]): void => items.forEach(work)
  const poll = (): void => {
    const items = waiting
    waiting = []
    setImmediate(workAll, items)
  }
  return (item) => {
    if (waiting.push(item) === 1) setImmediate(poll)
  }
}

/** A handshake that failed without saying why. */
const untrusted = { code: 'ERR_TLS' }

/** Sockets live on for a while after their end. */
function forget(line: Line): void {
  line.user = undefined
  line.socket = undefined
  line.unsent = undefined
}
