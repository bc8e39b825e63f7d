/** The parts of drizzle's PostgreSQL drivers that the storage uses. */
import { drizzle } from 'drizzle-orm/bun-sql'

/** Common to Bun's driver and PGlite's. */
export type PgDrizzle = {
  transaction<T>(work: (tx: PgDrizzle) => Promise<T>, options?: PgTransaction): Promise<T>
  execute(query: unknown): PromiseLike<unknown>
  session: {
    prepareQuery(
      query: { sql: string; params: unknown[] },
      fields: unknown,
      name: undefined,
      isArray: true,
      answer?: (answers: unknown[][]) => unknown[][],
    ): PgPrepared
  }
  /** Sends lines to a `COPY … FROM STDIN`; absent where the driver has none. */
  copyIn?(text: string, lines: string): Promise<void>
}

/** A query that was built; its session is the one that built it. */
export type PgPrepared = {
  query: { sql: string; params: unknown[] }
  fields: unknown
  joinsNotNullableMap: unknown
  execute(values?: Record<string, unknown>): Promise<unknown>
}

/** Direct access for migrations, copies and checks of the server. */
export type PgDirect = Pick<PgDrizzle, 'transaction' | 'execute'>

export type PgTransaction = {
  isolationLevel: 'read committed' | 'repeatable read'
  accessMode?: 'read only'
}

/** Drizzle over one of Bun's clients. */
export function pgDrizzle(client: Bun.SQL): PgDrizzle {
  const pg = drizzle({ client }) as unknown as PgDrizzle
  const nested = pg.transaction.bind(pg)
  const transaction: PgDrizzle['transaction'] = (work, options) => {
    if (!options) return nested(work)
    // Drizzle would set it in a second message after BEGIN, and wait for the answer.
    const mode = ['isolation level', options.isolationLevel, options.accessMode ?? '']
    return client.begin(mode.join(' ').trim(), (tx) =>
      work(
        Object.assign(drizzle({ client: tx }) as unknown as PgDrizzle, {
          copyIn: (text: string, lines: string) => copyIn(tx, text, lines),
        }),
      ),
    )
  }
  return Object.assign(pg, { transaction })
}

/** The lines are sent once the server asks for them, which takes a round trip. */
async function copyIn(tx: Bun.SQL, text: string, lines: string): Promise<void> {
  const writer = tx.unsafe(text).writable().getWriter()
  // An error of this write fails the close too.
  writer.write(lines).catch(() => {})
  await writer.close()
}
