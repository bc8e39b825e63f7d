/**
 * Detects a database that went back to an earlier state, by heads of the log kept outside of it.
 */
import type { Health } from '../../front/status/health-port.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Log } from '../../kernel/log.ts'
import { Refusal, refuse } from '../../kernel/refusal.ts'
import type { CheckpointRow } from '../../storage/db/schema/schema.ts'
import { isDiverged } from './divergence.ts'
import { hearing, hearMs } from './hearing.ts'
import type { Logs } from './logs.ts'
import type { CheckpointStore } from './store/checkpoint.ts'
import type { HeadStore } from './store/head.ts'
import type { KnownHead, LogStore } from './store.ts'

/** Heads in a file of the data folder, which survive a restored database. */
export type HeadFile = {
  path: string
  /** The heads at opening, each log's by size. */
  heads: readonly CheckpointRow[]
  /** Adds heads; resolves when they are on disk. */
  keep(heads: readonly CheckpointRow[]): Promise<void>
}

/** The newest heads known to this node, and whether the database still has them. */
export type Heads = {
  /** Compares the known heads with the database and updates the health. */
  look(): Promise<void>
  /** Whether leaves and heads may be added to the log now. */
  isOpen(): boolean
  /** @throws Refusal like `assertChecked`, without waiting. */
  assertOpen(): void
  /** The newest head of the current log that this node signed or saw. */
  newest(): CheckpointRow | undefined
  /** Records a signed head; resolves when it is on disk. */
  remember(head: CheckpointRow): Promise<void>
  /** Reports a lost connection: the next one may reach a database that lacks what was read. */
  lost(): void
  /** Called after each lost connection: cached reads may be wrong. */
  onLost(listener: () => void): void
  /** Milliseconds since a connection was last lost. */
  sinceLost(): number
  /**
   * Waits up to a second for a comparison in progress.
   * @throws Refusal `log_diverged`, `unavailable` until the database was compared.
   */
  assertChecked(): Promise<void>
  /** Runs the first comparison. With an empty folder and other nodes, hears them first. */
  start(): Promise<void>
  /** Called each time the database is found to lack a known head. */
  onDiverged(listener: () => void): void
  stop(): void
}

export type HeadsNeeds = {
  health: Health
  log: Log
  clock: Pick<Clock, 'monotonic'>
  /** The time of leases. */
  leaseClock: Pick<Clock, 'now'>
  logs: Logs
  logStore: Pick<LogStore, 'guardBy' | 'know' | 'known' | 'faultOf' | 'size'>
  checkpoints: Pick<CheckpointStore, 'latest'>
  store: HeadStore
  /** Undefined if nothing outlives the process, as in some tests. */
  file?: HeadFile | undefined
  /** The number of processes on this database when last counted. */
  settings: { nodes: number }
  /** Drops every cached read of the database. */
  distrust: () => void
}

/** How long a run or a signature waits for a comparison after a lost connection, in ms. */
const checkWithinMs = 1000
/** The pause between two attempts in ms, and their number; afterwards the job takes over. */
const retryMs = 250
const retries = 20

/** A database that lacks a known head begins, numbers and signs nothing. */
export function makeHeads(needs: HeadsNeeds): Heads {
  const { health, log, clock, logs, logStore, checkpoints, store, file, distrust } = needs
  const { origin } = logs.current
  const ours = (file?.heads ?? []).filter((head) => head.issuer === origin)
  let newest = ours.at(-1)
  /** Counts lost connections: a comparison that spans one is void. */
  let losses = 0
  let lostAt = Number.NEGATIVE_INFINITY
  let server: string | undefined
  let isHearing = false
  let isRetrying = false
  let isStopped = false
  let isLossLogged = false
  let kept: Promise<void> = Promise.resolve()
  let waiting: (() => void)[] = []
  const whenDiverged: (() => void)[] = []
  const whenLost: (() => void)[] = []

  /** A head of a log unknown to this database, which went back to before that log. */
  const unknownLog = file?.heads.find(({ issuer }) => !logs.of(issuer))

  const become = (next: Health['heads']): void => {
    health.heads = next
    if (next === 'unchecked') return
    const waiters = waiting
    waiting = []
    for (const wake of waiters) wake()
  }

  const diverge = (head: Pick<CheckpointRow, 'size'>, how: string, issuer = origin): void => {
    if (health.heads === 'diverged') return
    become('diverged')
    const what = `a head of ${head.size} leaves of ${issuer} is known, but ${how}`
    log.error('log.diverged', new Error(what), { advice, heads: file?.path })
    for (const tell of whenDiverged) tell()
  }

  /** Compares every known head with the database. Returns how to report a divergence. */
  const compare = async (): Promise<(() => void) | undefined> => {
    if (unknownLog) {
      const how = 'the database has no such log'
      return () => diverge(unknownLog, how, unknownLog.issuer)
    }
    const known = logStore.known()
    const how = known && (await logStore.faultOf(known))
    if (known && how !== undefined) {
      await tellOthers(known)
      return () => diverge(known, how)
    }
    const lacked = await store.lacked(origin)
    const fault = lacked && (await logStore.faultOf(lacked))
    if (lacked && fault !== undefined) return () => diverge(lacked, fault)
    const latest = await checkpoints.latest(origin)
    if (!latest) return undefined
    const broken = latest.size === known?.size ? undefined : await logStore.faultOf(latest)
    if (broken !== undefined) return () => diverge(latest, broken)
    await remember(latest).catch(notKept)
    return undefined
  }

  /** A head that was only seen may be seen again; a signed one must be on disk. */
  const notKept = (error: unknown): void => {
    if (!isLossLogged) log.warn('log.head_not_kept', { file: file?.path, reason: String(error) })
    isLossLogged = true
  }

  /** Stores the missing head in the database for nodes that do not know it. */
  const tellOthers = async (head: KnownHead): Promise<void> => {
    try {
      const stored = await store.lacked(origin)
      if (stored && (await logStore.faultOf(stored)) !== undefined) return
      await store.tellLacked(origin, head)
    } catch (error) {
      if (health.heads !== 'diverged') log.warn('log.lack_not_told', { reason: String(error) })
    }
  }

  const look = async (): Promise<void> => {
    const before = losses
    await noteServer()
    const diverging = await compare()
    if (before !== losses) return
    if (diverging) diverging()
    else if (!isHearing) {
      if (health.heads === 'diverged') log.info('log.whole_again')
      become('ok')
    }
  }

  /** Another server may lack heads that only other nodes saw, so they are heard first. */
  const noteServer = async (): Promise<void> => {
    const now = await store.server()
    const isOther = server !== undefined && now !== undefined && now !== server
    server = now ?? server
    if (!isOther) return
    distrust()
    if (needs.settings.nodes > 1) hear()
  }

  /** Begins nothing until the nodes that know more had time to report it. */
  const hear = (): void => {
    if (isHearing) return
    isHearing = true
    if (health.heads === 'ok') become('unchecked')
    const areHeard = hearing(clock, () => store.leases(needs.leaseClock.now()))
    const listen = async (): Promise<void> => {
      if (!(await areHeard().catch(() => false))) return later(() => void listen(), retryMs)
      isHearing = false
      if (!isRetrying) lookSoon(retries)
    }
    void listen()
  }

  const later = (work: () => void, ms: number): void => {
    if (!isStopped) setTimeout(work, ms).unref()
  }

  /** Retries until a comparison completes; after `left` attempts the job takes over. */
  const lookSoon = (left: number): void => {
    isRetrying = left > 0 && !isStopped
    if (!isRetrying) return
    look()
      .catch(() => {})
      .then(() => {
        if (health.heads === 'unchecked') later(() => lookSoon(left - 1), retryMs)
        else isRetrying = false
      })
  }

  const remember = (head: CheckpointRow): Promise<void> => {
    if (newest && head.size <= newest.size) return kept
    newest = head
    logStore.know(head)
    kept = file?.keep([head]) ?? kept
    return kept
  }

  const isChecked = (): Promise<boolean> =>
    new Promise((resolve) => {
      if (health.heads !== 'unchecked') return resolve(true)
      waiting.push(() => resolve(true))
      const withinMs = checkWithinMs + (isHearing ? hearMs : 0)
      setTimeout(() => resolve(health.heads !== 'unchecked'), withinMs).unref()
    })

  /** The reason why nothing may be begun, appended or signed now. */
  const closed = (): Refusal | undefined => {
    if (isDiverged(health)) return new Refusal('log_diverged')
    return health.heads === 'unchecked' ? unchecked() : undefined
  }

  return {
    look,
    isOpen: () => closed() === undefined,
    assertOpen() {
      const why = closed()
      if (why) throw why
    },
    newest: () => newest,
    remember,
    lost() {
      losses++
      lostAt = clock.monotonic()
      for (const tell of whenLost) tell()
      if (health.heads === 'ok') become('unchecked')
      if (!isRetrying) lookSoon(retries)
    },
    onLost: (listener) => void whenLost.push(listener),
    sinceLost: () => clock.monotonic() - lostAt,
    async assertChecked() {
      if (health.heads === 'unchecked' && !(await isChecked())) throw unchecked()
      if (isDiverged(health)) refuse('log_diverged')
    },
    async start() {
      logStore.guardBy({ closed, forgot: diverge })
      if (newest) logStore.know(newest)
      await look()
      if (newest && ours.length > 0) return
      if ((await logStore.size()) > 0 && (await store.leases(needs.leaseClock.now())).size > 0)
        hear()
    },
    onDiverged: (listener) => void whenDiverged.push(listener),
    stop() {
      isStopped = true
    },
  }
}

const advice =
  'The database went back to an earlier state: an old copy was restored, or a standby without ' +
  'the last transactions took over. No receipts are issued. Restore the right database. If it is ' +
  'lost, stop all servers and run: counterfoil log reopen --reason "…". Only if this data ' +
  'folder belongs to another database, move heads.json away'

const unchecked = (): Refusal =>
  new Refusal('unavailable', {
    message: 'The database connection was lost, and the log is being compared. Try again.',
    metadata: { reason: 'log_unchecked' },
    headers: { 'retry-after': '1' },
  })
