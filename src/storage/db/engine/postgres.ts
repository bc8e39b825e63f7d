/** Runs the work of stores on PostgreSQL, with pipelined writes and retries of lost races. */

import { StorageFault } from '../../../kernel/storage-fault.ts'
import { OpenRuns } from '../../holds/open-runs.ts'
import { pgColumns } from '../schema/columns.ts'
import { buildSchema } from '../schema/schema.ts'
import { buildViews } from '../schema/views.ts'
import { batchStatement, copyStatement, lookUp } from '../sql/batch-statements.ts'
import { type Pace, PendingWork } from '../sql/pending-work.ts'
import type { Query, Step, Work } from '../sql/query-steps.ts'
import { compiledOnce, placeholders } from '../sql/statements.ts'
import type { Db } from './db.ts'
import type { PgDirect, PgDrizzle, PgPrepared, PgTransaction } from './pg-drizzle.ts'
import { type ServerPool, serverPool } from './postgres-pool.ts'

export type { PgDrizzle } from './pg-drizzle.ts'

/** The retries of a transaction that lost a serialisation race or a deadlock. */
const raceRetries = 50

/** Opens a PostgreSQL server through Bun's own client. */
export function openPostgres(url: string, connections?: number): Db & { drizzle: PgDirect } {
  const { run, close, notices, storage, onConnectionLost } = serverPool(url, connections)
  return {
    ...dbOver({ run, settings: [...byIndex, ...inTime] }, close),
    notices,
    storage,
    onConnectionLost,
  }
}

/** The seam over any of drizzle's PostgreSQL drivers. */
export function postgresDb(
  pg: PgDrizzle,
  close: () => Promise<unknown>,
): Db & { drizzle: PgDirect } {
  const turns = { turn: 0 }
  return dbOver(
    { run: (pace, work) => work(pg, new PendingWork(turns, pace, () => {})), settings: byIndex },
    close,
  )
}

type Server = Pick<ServerPool, 'run'> & { settings: Setting[] }

function dbOver(
  { run: fly, settings }: Server,
  close: () => Promise<unknown>,
): Db & { drizzle: PgDirect } {
  const setUp = settingUp(settings)
  const compiled: CompiledQueries = new Map()
  const inTransaction = <T>(
    work: (q: Query) => Work<T>,
    { pace, ...options }: PgTransaction & { pace: Pace },
  ): Promise<T> =>
    fly(pace, async (pg, flight) => {
      for (let attempt = 0; ; attempt++) {
        try {
          return await pg.transaction(async (tx) => {
            // First of all: a command that was given up must not run.
            flight.next()
            const begun = pace === 'write' ? [setUp(tx)] : []
            const value = await drive(
              work(tx as unknown as Query),
              { pg: tx, compiled },
              flight,
              begun,
            )
            if (pace === 'write') flight.commit()
            return value
          }, options)
        } catch (error) {
          if (!isRace(error) || attempt >= raceRetries) throw error
          await Bun.sleep(Math.min(2 ** attempt, 64))
          flight.again()
        }
      }
    })
  return {
    engine: 'postgres',
    tables: buildSchema(pgColumns),
    views: buildViews(pgColumns),
    exclusive: false,
    open: new OpenRuns(),
    drizzle: {
      transaction: (work, options) => fly('long', (pg) => pg.transaction(work, options)),
      execute: (query) => fly('long', async (pg) => pg.execute(query)),
    },
    write: async (work, ended) => {
      try {
        const value = await inTransaction(work, { isolationLevel: 'read committed', pace: 'write' })
        ended?.(true)
        return value
      } catch (error) {
        ended?.(false)
        throw error
      }
    },
    read: (work) =>
      fly('read', (pg, flight) => drive(work(pg as unknown as Query), { pg, compiled }, flight)),
    snapshot: (work) =>
      inTransaction(work, {
        isolationLevel: 'repeatable read',
        accessMode: 'read only',
        pace: 'long',
      }),
    readClock: () => fly('read', async (pg) => Number((await run(pg, databaseClock, []))[0]?.[0])),
    onForeignWrite: () => {},
    noticeForeign: () => {},
    onConnectionLost: () => {},
    // The server's vacuum does that; its write-ahead log is the operator's.
    scrub: async () => true,
    walBytes: () => null,
    close: async () => void (await close()),
  }
}

/**
 * A connection keeps its plans, even those made while a table was small: without these settings a
 * write would scan the whole table long after it has grown.
 */
const byIndex: Setting[] = [
  ...['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin', 'jit'].map(
    (name): Setting => [name, 'off'],
  ),
  // To plan a look-up each time costs several times what the look-up does.
  ['plan_cache_mode', 'force_generic_plan'],
]

/**
 * The server ends a statement before this process gives it up, and the transaction of a vanished
 * process, which frees its locks.
 */
const inTime: Setting[] = [
  ['statement_timeout', '9s'],
  ['idle_in_transaction_session_timeout', '15s'],
]

type Setting = [name: string, value: string]

/**
 * Applies settings for the rest of a transaction. One that would write nothing fails on a read-only
 * server too: its COMMIT must not pass for a sign that the server takes writes again.
 * @throws StorageFault `storage_read_only`
 */
function settingUp(settings: Setting[]): (tx: PgDrizzle) => Promise<void> {
  const made = settings.map(([name], i) => `set_config('${name}', $${i + 1}, true)`)
  const text = `select current_setting('transaction_read_only'), ${made.join(', ')}`
  const values = settings.map(([, value]) => value)
  return async (tx) => {
    const [row] = await run(tx, text, values)
    if (row?.[0] === 'on') throw new StorageFault('storage_read_only', '25006')
  }
}

/** The most writes in flight before the next await. */
const sentMax = 16

/**
 * Pipelines writes: the server runs the statements of a connection in order, and after a failed one
 * refuses the rest of the transaction. Their errors surface at the next awaited step.
 */
async function drive<T>(
  work: Work<T>,
  over: Over,
  flight: PendingWork,
  first: Promise<unknown>[] = [],
): Promise<T> {
  let sent = first
  for (const one of first) one.catch(() => {})
  let turn = work.next()
  while (!turn.done) {
    const outcome = perform(turn.value, over)
    sent.push(outcome)
    if (isChange(turn.value) && sent.length < sentMax) {
      // The error surfaces where `sent` is awaited.
      outcome.catch(() => {})
      turn = work.next()
      continue
    }
    const awaited = Promise.all(sent)
    sent = []
    let outcomes: unknown[]
    try {
      outcomes = await awaited
    } catch (error) {
      turn = work.throw(error)
      continue
    }
    flight.next()
    turn = work.next(outcomes.at(-1))
  }
  await Promise.all(sent)
  return turn.value
}

/** Milliseconds. Time comes from the process everywhere else: see `lease-clock.ts`. */
const databaseClock = 'select (extract(epoch from clock_timestamp()) * 1000)::text'

const isChange = ({ kind }: Step): boolean =>
  kind === 'insert' || kind === 'upsert' || kind === 'update' || kind === 'remove'

type PgSelect = PromiseLike<unknown> & { for(strength: 'update'): PromiseLike<unknown> }

/** A session that runs steps, and the queries that any session built under their names. */
type Over = { pg: PgDrizzle; compiled: CompiledQueries }
type CompiledQueries = Map<string, Pick<PgPrepared, 'query' | 'fields' | 'joinsNotNullableMap'>>

async function perform(step: Step, over: Over): Promise<unknown> {
  if (step.kind === 'together') return Promise.all(step.steps.map((one) => perform(one, over)))
  if (step.kind === 'prepared') return runPrepared(step, over)
  const { pg } = over
  if (step.kind === 'rows') {
    const select = step.query as unknown as PgSelect
    return step.lock ? select.for('update') : select
  }
  if (step.kind === 'find') {
    const { text, bind, read } = found(step)
    return (await run(pg, text, bind(step.where))).map(read)
  }
  if (step.kind === 'insert' && step.rows.length >= copiedFrom && pg.copyIn) {
    const { text, lines } = copying(step)
    return pg.copyIn(text, lines(step.rows))
  }
  const { text, bind } = changing(step)
  return run(pg, text, bind(step.rows))
}

/** To build a query costs several times what it costs to send one that was built. */
function runPrepared(
  { name, values, build }: Extract<Step, { kind: 'prepared' }>,
  { pg, compiled }: Over,
): Promise<unknown> {
  let known = compiled.get(name)
  if (!known) {
    const built = build(placeholders(values)) as unknown as { prepare(): PgPrepared }
    const { query, fields, joinsNotNullableMap } = built.prepare()
    known = { query, fields, joinsNotNullableMap }
    compiled.set(name, known)
  }
  const { query, fields, joinsNotNullableMap } = known
  const prepared = pg.session.prepareQuery(query, fields, undefined, true)
  prepared.joinsNotNullableMap = joinsNotNullableMap
  return prepared.execute(values)
}

/** From so many rows on, what COPY saves a server is worth the round trip that it adds. */
const copiedFrom = 8

const found = compiledOnce(lookUp)
const changing = compiledOnce(batchStatement)
const copying = compiledOnce(copyStatement)

/** Returns rows as arrays of values in column order. */
const run = (pg: PgDrizzle, text: string, params: string[]): Promise<unknown[][]> =>
  pg.session
    .prepareQuery({ sql: text, params }, undefined, undefined, true, (answers) => answers)
    .execute() as Promise<unknown[][]>

/** Serialisation failure (40001) or deadlock (40P01), wherever the driver put the code. */
function isRace(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { errno, code } = at as { errno?: unknown; code?: unknown }
    if ([errno, code].some((c) => c === '40001' || c === '40P01')) return true
  }
  return false
}
