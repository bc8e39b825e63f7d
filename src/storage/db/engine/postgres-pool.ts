/** The connections to one PostgreSQL server: deadlines, probes, notices, a new pool. */
import { StorageFault } from '../../../kernel/storage-fault.ts'
import { type Pace, PendingWork, turnMs } from '../sql/pending-work.ts'
import type { Notice, Notices } from './notices.ts'
import { type PgDrizzle, pgDrizzle } from './pg-drizzle.ts'
import { serverFaultOf } from './server-fault.ts'
import { isDeadEnd, probeServer, silence } from './server-probe.ts'
import { isSeenByProbe, watchTrouble } from './server-trouble.ts'
import type { Storage } from './storage.ts'

/** Connections of one process unless told otherwise. Commands of one account are serial. */
const usualConnections = 16
/** How long after a server had no connection left for LISTEN it is tried again, in turns. */
const listenTurns = 5000 / turnMs
/** The longest a connection may take to open, in seconds. */
const connectWithinS = 10
/** The age of a statement at which the server is probed, in turns. */
const doubtfulTurns = 7000 / turnMs
/** The age of a statement at which it is given up, in turns. */
const deadlineTurns = 10_000 / turnMs
/** The interval of probes while the server has a fault, and while a statement is late, in turns. */
const probeTurns = { trouble: 1000 / turnMs, late: 3000 / turnMs }
/** How long a close waits for work in flight, in seconds. */
const closeWithinS = 2

/** The channel of {@link Notices}; each database has its own. */
const channel = 'counterfoil'

type Pool = { client: Bun.SQL; pg: PgDrizzle; flights: Set<PendingWork>; isOver: boolean }

export type ServerPool = {
  /** Runs work on the current pool; `pg` is not kept, because the next work may get a new pool. */
  run<T>(pace: Pace, work: (pg: PgDrizzle, flight: PendingWork) => Promise<T>): Promise<T>
  notices: Notices
  storage: Storage
  onConnectionLost(listener: () => void): void
  close(): Promise<void>
}

/**
 * Gives up a statement after ten seconds without an answer. If a probe gets no answer either, all
 * other work fails too, and nothing is sent until a probe succeeds. Otherwise only the pool of the
 * late statement is replaced, and closes after its last work.
 */
export function serverPool(url: string, connections = usualConnections): ServerPool {
  const turns = { turn: 0 }
  const trouble = watchTrouble(turns)
  const pools = new Set<Pool>()
  const lost: (() => void)[] = []
  const listeners: ((notice: Notice) => void)[] = []
  /** Why nothing is sent to the server: it is silent, or takes no connection. */
  let away: StorageFault | undefined
  let isClosed = false
  let probe = { isRunning: false, begunAt: Number.NEGATIVE_INFINITY, wasSilent: false }
  /** The pool that listens for notices. */
  let heardOver: Pool | undefined
  let listenFrom = 0
  /** Counts work that succeeded: a pool that does some is not away. */
  let answers = 0

  const tellLost = (): void => {
    for (const listener of lost) listener()
  }

  const open = (): Pool => {
    const client = new Bun.SQL({
      url,
      max: connections,
      connectionTimeout: connectWithinS,
      onclose: () => {
        if (!pool.isOver) tellLost()
      },
    })
    const pool: Pool = { client, pg: pgDrizzle(client), flights: new Set(), isOver: false }
    pools.add(pool)
    return pool
  }

  const close = (pool: Pool, withinS: number): Promise<void> => {
    pool.isOver = true
    pools.delete(pool)
    return pool.client.close({ timeout: withinS }).catch(() => {})
  }

  let current = open()

  /** Sends further work over new connections; work in flight stays on the old ones. */
  const renew = (): void => {
    const before = current
    current = open()
    tellLost()
    if (before.flights.size === 0) void close(before, 0)
  }

  /** Fails all work now and refuses more at once, until a probe gets an answer. */
  const goAway = (fault: StorageFault): void => {
    away = fault
    for (const pool of [...pools]) {
      for (const flight of pool.flights) flight.giveUp('storage_unreachable', fault.code)
      pool.flights.clear()
      void close(pool, 0)
    }
    current = open()
    tellLost()
    trouble.met(fault, 'read')
  }

  /** With `isBeside`, a connection of its own is opened: that there is none stops nothing else. */
  const fly = <T>(
    pace: Pace,
    work: (pool: Pool, flight: PendingWork) => Promise<T>,
    isBeside = false,
  ): Promise<T> => {
    if (away) return Promise.reject(new StorageFault(away.reason, away.code))
    const pool = current
    return new Promise<T>((done, failed) => {
      const flight = new PendingWork(turns, pace, failed)
      pool.flights.add(flight)
      const leave = (): void => {
        pool.flights.delete(flight)
        if (pool !== current && !pool.isOver && pool.flights.size === 0) void close(pool, 0)
      }
      work(pool, flight).then(
        (value) => {
          leave()
          answers++
          if (flight.isCommitting) trouble.wrote()
          done(value)
        },
        (error) => {
          leave()
          const fault = serverFaultOf(error, flight.isCommitting)
          if (fault && !flight.isOver && !isClosed) {
            if (isBeside && fault.reason === 'storage_exhausted') trouble.short()
            else trouble.met(fault, pace)
            if (fault.reason === 'storage_unreachable') probeNow()
          }
          failed(fault ?? error)
        },
      )
    })
  }

  const isFailing = (): boolean =>
    !away && trouble.storage.trouble()?.reason === 'storage_unreachable'

  const runProbe = async (): Promise<void> => {
    probe = { ...probe, isRunning: true, begunAt: turns.turn }
    const before = answers
    const fault = await probeServer(url)
    const isSilent = fault?.code === 'SILENT'
    // Later work would wait for it as long as the first did.
    const isDead = isSilent && isFailing() && (await isDeadEnd(url))
    probe = { ...probe, isRunning: false, wasSilent: isSilent }
    const now = trouble.storage.trouble()
    if (isClosed) return
    if (away && fault?.reason !== 'storage_unreachable') {
      away = undefined
      tellLost()
    }
    if (fault && isDead && isFailing() && answers === before) return goAway(fault)
    // The pool may hold connections to a server that is no longer the primary.
    if (!fault && now?.reason === 'storage_read_only') renew()
    trouble.probed(fault)
  }

  /** A balancer may take connections for a dead server: each would be waited for in vain. */
  const probeNow = (): void => {
    if (!probe.isRunning && !away && turns.turn > probe.begunAt) void runProbe()
  }

  const isProbeDue = (age: number): boolean => {
    const since = turns.turn - probe.begunAt
    const now = trouble.storage.trouble()
    if (now && isSeenByProbe(now) && since >= probeTurns.trouble) return true
    return age >= doubtfulTurns && since >= probeTurns.late
  }

  const look = (): void => {
    turns.turn++
    const ageOf = (flight: PendingWork): number => turns.turn - flight.at
    const flights = [...pools].flatMap((pool) => [...pool.flights])
    const age = flights.reduce((most, flight) => Math.max(most, ageOf(flight)), 0)
    const isDeaf = listeners.length > 0 && heardOver !== current
    if (isDeaf && !away && turns.turn >= listenFrom) void listen().catch(() => {})
    if (probe.isRunning) return
    if (age >= deadlineTurns) {
      if (probe.wasSilent) goAway(silence())
      else giveUpLate(ageOf)
    }
    if (isProbeDue(age)) void runProbe()
  }

  /** The server answers probes: gives up late statements and their pool only. */
  const giveUpLate = (ageOf: (flight: PendingWork) => number): void => {
    for (const pool of [...pools]) {
      const late = [...pool.flights].filter(
        (flight) => flight.pace !== 'long' && ageOf(flight) >= deadlineTurns,
      )
      if (late.length === 0) continue
      for (const flight of late) {
        trouble.met(flight.giveUp('storage_busy', 'LATE'), flight.pace)
        pool.flights.delete(flight)
      }
      if (pool === current) renew()
      else if (pool.flights.size === 0) void close(pool, 0)
    }
  }

  const listen = async (): Promise<void> => {
    const over = current
    heardOver = over
    try {
      for (const listener of listeners) {
        const hear = ({ client }: Pool) =>
          client.listen(channel, (text) => listener(text as Notice))
        await fly('read', hear, true)
      }
    } catch (error) {
      if (heardOver === over) heardOver = undefined
      const isFull = error instanceof StorageFault && error.reason === 'storage_exhausted'
      if (isFull) listenFrom = turns.turn + listenTurns
      throw error
    }
  }

  const notices: Notices = {
    tell: (notice) => fly('read', ({ client }) => client.notify(channel, notice)).catch(() => {}),
    async hear(listener) {
      listeners.push(listener)
      await listen()
    },
  }

  const clock = setInterval(look, turnMs)
  clock.unref()
  return {
    run: (pace, work) => fly(pace, ({ pg }, flight) => work(pg, flight)),
    notices,
    storage: trouble.storage,
    onConnectionLost: (listener) => void lost.push(listener),
    async close() {
      isClosed = true
      clearInterval(clock)
      await Promise.all([...pools].map((pool) => close(pool, closeWithinS)))
    },
  }
}
