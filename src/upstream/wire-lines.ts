import type { Socket } from 'bun'

/** One connection. Whoever uses it hears of it. */
export type Line<User> = {
  socket: Socket<Line<User>> | undefined
  user: User | undefined
  /** Whether it brought an answer before: its server may have closed it by now. */
  isUsed: boolean
  isClosed: boolean
  /** What the system's buffers did not take yet. */
  unsent: Buffer | undefined
}

export type Hears<User> = {
  /** It may be written to. */
  opened(user: User, line: Line<User>): void
  bytes(user: User, bytes: Buffer): void
  /** It is over. `isClean`: its server ended it, as it may. */
  lost(user: User, isClean: boolean): void
}

/** Connections to one server, kept for the next request. */
export type Lines<User> = {
  /** One that is free, or a new one. */
  take(user: User): void
  /** Another one than those that were used before. */
  takeNew(user: User): void
  /** For the next request: nothing of this one is on its way any more. */
  keep(line: Line<User>): void
  cut(line: Line<User>): void
  send(line: Line<User>, bytes: Buffer): void
}

/** How many are kept that nobody uses, and for how long, in seconds. */
const mostKept = 256
const keptSeconds = 60

export function makeLines<User>(
  { hostname, port }: { hostname: string; port: number },
  hears: Hears<User>,
): Lines<User> {
  type Own = Line<User>
  const free: Own[] = []

  const lose = (line: Own, isClean: boolean): void => {
    if (line.isClosed) return
    line.isClosed = true
    const { user } = line
    forget(line)
    if (user) hears.lost(user, isClean)
    else removeFrom(free, line)
  }
  const cut = (line: Own): void => {
    if (line.isClosed) return
    line.isClosed = true
    const { socket } = line
    forget(line)
    socket?.terminate()
  }
  const open = (line: Own): void => {
    if (line.user) hears.opened(line.user, line)
  }
  const flush = (line: Own, bytes: Buffer): void => {
    const sent = Math.max(0, line.socket?.write(bytes) ?? 0)
    line.unsent = sent < bytes.length ? bytes.subarray(sent) : undefined
  }
  const handlers = {
    open(socket: Socket<Own>) {
      const line = socket.data
      // Nobody waits for it any more.
      if (line.isClosed) socket.terminate()
      else {
        line.socket = socket
        open(line)
      }
    },
    data({ data: line }: Socket<Own>, bytes: Buffer) {
      if (line.user) return hears.bytes(line.user, bytes)
      // Nobody asked for anything.
      removeFrom(free, line)
      cut(line)
    },
    drain: ({ data: line }: Socket<Own>) => void (line.unsent && flush(line, line.unsent)),
    timeout({ data: line }: Socket<Own>) {
      if (line.user) return
      removeFrom(free, line)
      cut(line)
    },
    close: ({ data: line }: Socket<Own>, error?: unknown) => lose(line, !error),
    error: ({ data: line }: Socket<Own>) => lose(line, false),
    connectError: ({ data: line }: Socket<Own>) => lose(line, false),
  }
  const takeNew = (user: User): void => {
    const data: Own = { socket: undefined, user, isUsed: false, isClosed: false, unsent: undefined }
    Bun.connect({ hostname, port, socket: handlers, data }).catch(() => lose(data, false))
  }

  return {
    take(user) {
      const line = free.pop()
      if (!line) return takeNew(user)
      line.user = user
      line.socket?.timeout(0)
      line.socket?.ref()
      open(line)
    },
    takeNew,
    keep(line) {
      if (line.unsent || line.isClosed || free.length >= mostKept) return cut(line)
      line.user = undefined
      line.isUsed = true
      line.socket?.timeout(keptSeconds)
      // It keeps no process from its end.
      line.socket?.unref()
      free.push(line)
    },
    cut,
    send: flush,
  }
}

/** Sockets live on for a while after their end. */
function forget(line: Line<unknown>): void {
  line.user = undefined
  line.socket = undefined
  line.unsent = undefined
}

function removeFrom<T>(list: T[], item: T): void {
  const at = list.indexOf(item)
  if (at !== -1) list.splice(at, 1)
}
