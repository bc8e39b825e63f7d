import { drizzle } from 'drizzle-orm/bun-sql'
import { batchStatement, lookUp } from './batch-statements.ts'
import { pgColumns } from './columns.ts'
import type { Db, Notice, Notices, Query, Step, Work } from './db.ts'
import { buildSchema } from './schema.ts'
import { compiledOnce } from './statements.ts'

/** How often a transaction that lost a serialisation race or a deadlock is tried again. */
const raceRetries = 50

/** Connections of one node. Money of one account is serial anyway; the rest is reads. */
const connections = 16

/** What the seam needs of drizzle's PostgreSQL drivers; Bun's and PGlite's both have it. */
export type PgDrizzle = {
  transaction<T>(work: (tx: PgDrizzle) => Promise<T>, options?: PgTransaction): Promise<T>
  execute(query: unknown): PromiseLike<unknown>
  session: {
    prepareQuery(
      query: { sql: string; params: unknown[] },
      fields: undefined,
      name: undefined,
      isArray: true,
      answer: (answers: unknown[][]) => unknown[][],
    ): { execute(): Promise<unknown[][]> }
  }
}
type PgTransaction = {
  isolationLevel: 'read committed' | 'repeatable read'
  accessMode?: 'read only'
}

/** Opens a PostgreSQL server through Bun's own client. */
export function openPostgres(url: string): Db & { drizzle: PgDrizzle } {
  const lost: (() => void)[] = []
  let isClosing = false
  const client = new Bun.SQL({
    url,
    max: connections,
    onclose: () => {
      if (!isClosing) for (const listener of lost) listener()
    },
  })
  const pg = drizzle({ client }) as unknown as PgDrizzle
  const nested = pg.transaction.bind(pg)
  const transaction: PgDrizzle['transaction'] = (work, options) => {
    if (!options) return nested(work)
    // Drizzle would say it in a message of its own after BEGIN, and wait for the answer.
    const mode = ['isolation level', options.isolationLevel, options.accessMode ?? '']
    return client.begin(mode.join(' ').trim(), (tx) =>
      work(drizzle({ client: tx }) as unknown as PgDrizzle),
    )
  }
  const db = postgresDb(Object.assign(pg, { transaction }), () => {
    isClosing = true
    return client.close()
  })
  return {
    ...db,
    notices: noticesOf(client),
    onConnectionLost: (listener) => void lost.push(listener),
  }
}

/** The channel of {@link Notices}; each database has its own. */
const channel = 'counterfoil'

const noticesOf = (client: Bun.SQL): Notices => ({
  tell: (notice) => client.notify(channel, notice).catch(() => {}),
  async hear(listener) {
    await client.listen(channel, (text) => listener(text as Notice))
  },
})

/** The seam over any of drizzle's PostgreSQL drivers. */
export function postgresDb(
  pg: PgDrizzle,
  close: () => Promise<unknown>,
): Db & { drizzle: PgDrizzle } {
  const query = pg as unknown as Query
  const inTransaction = async <T>(
    work: (q: Query) => Work<T>,
    options: PgTransaction,
    first: (tx: PgDrizzle) => Promise<unknown>[] = () => [],
  ): Promise<T> => {
    for (let attempt = 0; ; attempt++) {
      try {
        return await pg.transaction(
          (tx) => drive(work(tx as unknown as Query), tx, first(tx)),
          options,
        )
      } catch (error) {
        if (!isRace(error) || attempt >= raceRetries) throw error
        await Bun.sleep(Math.min(2 ** attempt, 64))
      }
    }
  }
  return {
    engine: 'postgres',
    tables: buildSchema(pgColumns),
    exclusive: false,
    drizzle: pg,
    write: (work) => inTransaction(work, { isolationLevel: 'read committed' }, planByIndex),
    read: (work) => drive(work(query), pg),
    snapshot: (work) =>
      inTransaction(work, { isolationLevel: 'repeatable read', accessMode: 'read only' }),
    readClock: async () => Number((await run(pg, databaseClock, []))[0]?.[0]),
    onForeignWrite: () => {},
    onConnectionLost: () => {},
    // The server's vacuum does it, and its write-ahead log is its operator's.
    scrub: async () => true,
    walBytes: () => null,
    close: async () => void (await close()),
  }
}

/**
 * A connection keeps the plans it made, also of tables that were small then: a change would go
 * through all of a table long after it has grown. What has no index is still read without one.
 */
function planByIndex(tx: PgDrizzle): Promise<unknown>[] {
  const settings = ['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin', 'jit']
  const local = settings.map((name) => `set_config('${name}', $1, true)`)
  return [run(tx, `select ${local.join(', ')}`, ['off'])]
}

/** Changes that are on their way before somebody waits for them. */
const sentMax = 16

/**
 * Nobody waits for a change before the next step: the server takes what a connection sends in its
 * order, and after the first that fails refuses the rest until the transaction ends.
 */
async function drive<T>(work: Work<T>, pg: PgDrizzle, first: Promise<unknown>[] = []): Promise<T> {
  let sent = first
  for (const one of first) one.catch(() => {})
  let turn = work.next()
  while (!turn.done) {
    const outcome = perform(turn.value, pg)
    sent.push(outcome)
    if (isChange(turn.value) && sent.length < sentMax) {
      // Its failure is told where it is waited for.
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
    turn = work.next(outcomes.at(-1))
  }
  await Promise.all(sent)
  return turn.value
}

/** Milliseconds. Time comes from the process everywhere else: see `lease-clock.ts`. */
const databaseClock = 'select (extract(epoch from clock_timestamp()) * 1000)::text'

const isChange = ({ kind }: Step): boolean =>
  kind === 'insert' || kind === 'upsert' || kind === 'update'

type PgSelect = PromiseLike<unknown> & { for(strength: 'update'): PromiseLike<unknown> }

async function perform(step: Step, pg: PgDrizzle): Promise<unknown> {
  if (step.kind === 'together') return Promise.all(step.steps.map((one) => perform(one, pg)))
  if (step.kind === 'rows') {
    const select = step.query as unknown as PgSelect
    return step.lock ? select.for('update') : select
  }
  if (step.kind === 'prepared') return step.build(step.values) as unknown as PgSelect
  if (step.kind === 'find') {
    const { text, bind, read } = found(step)
    return (await run(pg, text, bind(step.where))).map(read)
  }
  const { text, bind } = changing(step)
  return run(pg, text, bind(step.rows))
}

const found = compiledOnce(lookUp)
const changing = compiledOnce(batchStatement)

/** Answers come as arrays of values in the order of the columns. */
const run = (pg: PgDrizzle, text: string, params: string[]): Promise<unknown[][]> =>
  pg.session
    .prepareQuery({ sql: text, params }, undefined, undefined, true, (answers) => answers)
    .execute()
/** Serialisation failure (40001) or deadlock (40P01), wherever the driver put the code. */
function isRace(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { errno, code } = at as { errno?: unknown; code?: unknown }
    if ([errno, code].some((c) => c === '40001' || c === '40P01')) return true
  }
  return false
}
