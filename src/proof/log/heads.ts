import type { Health } from '../../front/status/health-port.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Log } from '../../kernel/log.ts'
import { Refusal, refuse } from '../../kernel/refusal.ts'
import type { CheckpointRow } from '../../storage/db/schema.ts'
import { isDiverged } from './divergence.ts'
import type { Logs } from './logs.ts'
import type { CheckpointStore } from './store/checkpoint.ts'
import type { HeadStore } from './store/head.ts'
import type { KnownHead, LogStore } from './store.ts'

/** Heads that outlive the database: a file in the data folder. */
export type HeadFile = {
  path: string
  /** What was in it when it was opened, each log's by size. */
  heads: readonly CheckpointRow[]
  /** Adds heads; they are on the disk when this settles. */
  keep(heads: readonly CheckpointRow[]): Promise<void>
}

export type Heads = ReturnType<typeof makeHeads>

type Needs = {
  health: Health
  log: Log
  clock: Pick<Clock, 'monotonic'>
  /** The clock that leases are judged by. */
  leaseClock: Pick<Clock, 'now'>
  logs: Logs
  logStore: Pick<LogStore, 'guardBy' | 'know' | 'known' | 'faultOf' | 'size'>
  checkpoints: Pick<CheckpointStore, 'latest'>
  store: HeadStore
  /** Absent where nothing outlives this process: in tests that need no file. */
  file?: HeadFile | undefined
  /** How many processes there were on this database at the last look. */
  settings: { nodes: number }
  /** Drops everything that is remembered of the database. */
  distrust: () => void
}

/** How long a run or a signature waits for the comparison after a connection broke, in ms. */
const checkWithinMs = 1000
/** The pause between two tries of it, and how many follow each other: then the job goes on. */
const retryMs = 250
const retries = 20
/** How long a node on another server hears what others know before it begins anything, in ms. */
const hearMs = 2000

/**
 * The newest head that this process signed, saw or numbered, and whether the database still has
 * it. A database that went back to an earlier state looks whole by itself; only what is remembered
 * outside of it tells. Nothing is begun, numbered or signed on one that lacks a known head.
 */
export function makeHeads(needs: Needs) {
  const { health, log, clock, logs, logStore, checkpoints, store, file, distrust } = needs
  const { origin } = logs.current
  const ours = (file?.heads ?? []).filter((head) => head.issuer === origin)
  let newest = ours.at(-1)
  /** Grows with each connection that broke: a comparison that began before counts for nothing. */
  let losses = 0
  let lostAt = Number.NEGATIVE_INFINITY
  let server: string | undefined
  let isHearing = false
  let isRetrying = false
  let isStopped = false
  let isKeptTold = false
  /** The last write into the file. */
  let kept: Promise<void> = Promise.resolve()
  let waiting: (() => void)[] = []
  const whenDiverged: (() => void)[] = []
  const whenLost: (() => void)[] = []

  /** A head of a log that this database never heard of: it went back to before that log. */
  const strange = file?.heads.find(({ issuer }) => !logs.of(issuer))

  const become = (next: Health['heads']): void => {
    health.heads = next
    if (next === 'unchecked') return
    const told = waiting
    waiting = []
    for (const tell of told) tell()
  }

  const diverge = (head: Pick<CheckpointRow, 'size'>, how: string, issuer = origin): void => {
    if (health.heads === 'diverged') return
    become('diverged')
    const what = `a head of ${head.size} leaves of ${issuer} is known, but ${how}`
    log.error('log.diverged', new Error(what), { advice, heads: file?.path })
    for (const tell of whenDiverged) tell()
  }

  /** Compares everything known with the database as it is now. */
  const compare = async (): Promise<(() => void) | undefined> => {
    if (strange) {
      const how = 'the database has no such log'
      return () => diverge(strange, how, strange.issuer)
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

  /** What was only seen may be seen again; what is signed must be kept. */
  const notKept = (error: unknown): void => {
    if (!isKeptTold) log.warn('log.head_not_kept', { file: file?.path, reason: String(error) })
    isKeptTold = true
  }

  /** What this node knows outlives it in the database, for those that know less. */
  const tellOthers = async (head: KnownHead): Promise<void> => {
    try {
      const told = await store.lacked(origin)
      if (told && (await logStore.faultOf(told)) !== undefined) return
      await store.tellLacked(origin, head)
    } catch (error) {
      if (health.heads !== 'diverged') log.warn('log.lack_not_told', { reason: String(error) })
    }
  }

  /** Everything a comparison needs was read without a connection breaking meanwhile. */
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

  /** Another server may lack what this node never saw: those that did are heard first. */
  const noteServer = async (): Promise<void> => {
    const now = await store.server()
    const isOther = server !== undefined && now !== undefined && now !== server
    server = now ?? server
    if (!isOther) return
    distrust()
    if (needs.settings.nodes > 1) hear()
  }

  /** Nothing begins until the nodes that know more had the time to say so. */
  const hear = (): void => {
    if (isHearing) return
    isHearing = true
    if (health.heads === 'ok') become('unchecked')
    const end = (): void => {
      isHearing = false
      if (!isRetrying) lookSoon(retries)
    }
    later(end, hearMs)
  }

  const later = (work: () => void, ms: number): void => {
    if (!isStopped) setTimeout(work, ms).unref()
  }

  /** Looks until a look comes through; what takes longer is for the job. */
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

  /** Why nothing may be begun, appended or signed now. */
  const closed = (): Refusal | undefined => {
    if (isDiverged(health)) return new Refusal('log_diverged')
    return health.heads === 'unchecked' ? unchecked() : undefined
  }

  return {
    look,
    /** Whether leaves and heads may be added to the log now. */
    isOpen: (): boolean => closed() === undefined,
    /** @throws Refusal as {@link Heads.assertChecked} does, at once. */
    assertOpen(): void {
      const why = closed()
      if (why) throw why
    },
    /** The newest head of the current log that this node signed or saw. */
    newest: () => newest,
    /** Notes a head that is signed; it outlives this process when this settles. */
    remember,
    /**
     * A connection to the server broke: the next may reach a database that lacks what was read.
     * Until that was looked at nothing is begun.
     */
    lost(): void {
      losses++
      lostAt = clock.monotonic()
      for (const tell of whenLost) tell()
      if (health.heads === 'ok') become('unchecked')
      if (!isRetrying) lookSoon(retries)
    },
    /** Called when a connection broke: what was read of the database may not be there any more. */
    onLost: (listener: () => void): void => void whenLost.push(listener),
    /** How long ago a connection broke last, in ms. */
    sinceLost: (): number => clock.monotonic() - lostAt,
    /**
     * Waits a moment for a comparison that is under way.
     * @throws Refusal `log_diverged`, `unavailable` while the database was not compared.
     */
    async assertChecked(): Promise<void> {
      if (health.heads === 'unchecked' && !(await isChecked())) throw unchecked()
      if (isDiverged(health)) refuse('log_diverged')
    },
    /** The first comparison; on a database where others run, an empty folder hears them first. */
    async start(): Promise<void> {
      logStore.guardBy({ closed, forgot: diverge })
      if (newest) logStore.know(newest)
      await look()
      if (newest && ours.length > 0) return
      if ((await logStore.size()) > 0 && (await store.liveNodes(needs.leaseClock.now())) > 0) hear()
    },
    /** Called once each time the database is found to lack a known head. */
    onDiverged: (listener: () => void): void => void whenDiverged.push(listener),
    stop(): void {
      isStopped = true
    },
  }
}

const advice =
  'The database went back to an earlier state: an old copy was put back, or a standby without ' +
  'the last transactions took over. Nothing is issued. Put the right database back; if it is ' +
  'lost, stop all servers and run: counterfoil log reopen --reason "…". Only if this data ' +
  'folder belongs to another database, move heads.json away'

const unchecked = (): Refusal =>
  new Refusal('unavailable', {
    message: 'The connection to the database broke, and its log is being compared. Try again.',
    metadata: { reason: 'log_unchecked' },
    headers: { 'retry-after': '1' },
  })
