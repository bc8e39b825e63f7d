/** Runs the work of stores on a SQLite file: one transaction and one fsync a tick. */
import type { Database, Statement } from 'bun:sqlite'
import { statSync } from 'node:fs'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import { systemClock } from '../../../kernel/clock.ts'
import { OpenRuns } from '../../holds/open-runs.ts'
import { sqliteColumns } from '../schema/columns.ts'
import { buildSchema } from '../schema/schema.ts'
import { buildViews } from '../schema/views.ts'
import type { Query, Step, Values, Work } from '../sql/query-steps.ts'
import {
  compiledOnce,
  type Finding,
  placeholders,
  pointLookUp,
  rowStatement,
  type Writing,
} from '../sql/statements.ts'
import { connect, emptyLog } from './connection.ts'
import type { Db, WriteListener } from './db.ts'
import { type StoragePhase, watchStorage } from './storage.ts'
import { lookEveryMs, makeVersion } from './version.ts'

/** The retries of a batch that finds the lock taken. */
const busyRetries = 50

type Command = {
  work: (q: Query) => Work<unknown>
  done: (value: never) => void
  failed: (error: unknown) => void
  ended: WriteListener | undefined
}

/**
 * Commands of one tick share a transaction, each in its own savepoint, and resolve after COMMIT.
 */
export function openSqlite(
  file: string,
  options: { readonly?: boolean } = {},
): Db & { raw: Database } {
  const raw = connect(file, options)
  const driver = makeDriver(raw)
  const storage = watchStorage(file)
  storage.look()
  const run = (text: string): Statement => raw.prepare(text)
  const [begin, commit, rollback] = [run('BEGIN IMMEDIATE'), run('COMMIT'), run('ROLLBACK')]
  const [mark, keep, undo] = [run('SAVEPOINT c'), run('RELEASE c'), run('ROLLBACK TO c')]
  const dataVersion = run('PRAGMA data_version')
  const open = new OpenRuns()
  const listeners: (() => void)[] = []
  const distrust = (): void => {
    for (const listener of listeners) listener()
  }
  let seenVersion = dataVersion.values()[0]?.[0]
  let queue: Command[] = []
  let lookedAt = Number.NEGATIVE_INFINITY
  let closed = false

  const noticeForeign = (): void => {
    lookedAt = systemClock.monotonic()
    const version = dataVersion.values()[0]?.[0]
    if (version !== seenVersion) distrust()
    seenVersion = version
  }

  const flush = (retry: number): void => {
    if (queue.length === 0 || closed) return
    const stopped = storage.stopped()
    if (stopped) {
      failAll(queue.splice(0), stopped)
      return
    }
    try {
      begin.run()
    } catch (error) {
      if (isBusy(error) && retry < busyRetries) setTimeout(() => flush(retry + 1), 5 * (retry + 1))
      else failAll(queue.splice(0), storage.faultOf(error, 'write'))
      return
    }
    const commands = queue
    queue = []
    noticeForeign()
    /** The outcome of each command, announced only after the transaction has ended. */
    const told: { command: Command; isStored: boolean; answer: () => void }[] = []
    let isWell = true
    let where: StoragePhase = 'write'
    // A single command needs no savepoint, which would copy pages.
    const isAlone = commands.length === 1
    try {
      for (const command of commands) {
        if (!isAlone) mark.run()
        try {
          const value = driver.drive(command.work(driver.query)) as never
          if (!isAlone) keep.run()
          told.push({ command, isStored: true, answer: () => command.done(value) })
        } catch (error) {
          const fault = storage.faultOf(error, 'write')
          // A full or failing disk rolls back the whole tick.
          if (!raw.inTransaction || storage.stopped()) throw fault
          if (isAlone) {
            rollback.run()
            failAll(commands, fault)
            return
          }
          undo.run()
          keep.run()
          isWell &&= fault === error
          told.push({ command, isStored: false, answer: () => command.failed(fault) })
        }
      }
      where = 'commit'
      commit.run()
    } catch (error) {
      const fault = storage.faultOf(error, where)
      endQuietly(raw, rollback)
      distrust()
      failAll(commands, fault)
      return
    }
    const shown = told.map(({ command, isStored }) => command.ended?.(isStored) ?? true)
    if (isWell && shown.includes(true)) storage.wrote()
    for (const { answer } of told) answer()
  }

  return {
    engine: 'sqlite',
    tables: buildSchema(sqliteColumns),
    views: buildViews(sqliteColumns),
    exclusive: true,
    open,
    raw,
    write: (work, ended) =>
      new Promise((done, failed) => {
        const stopped = closed ? new Error('the database is closed') : storage.stopped()
        if (stopped) {
          ended?.(false)
          return failed(stopped)
        }
        const waiting = queue.push({ work, done, failed, ended })
        if (waiting === 1) setImmediate(flush, 0)
      }),
    read: async (work) => {
      try {
        return driver.drive(work(driver.query))
      } catch (error) {
        throw storage.faultOf(error, 'read')
      }
    },
    version: makeVersion(raw, open),
    snapshot: (work) =>
      snapshot(file, work).catch((error: unknown) => {
        throw storage.faultOf(error, 'read')
      }),
    onForeignWrite: (listener) => void listeners.push(listener),
    noticeForeign: () => {
      if (systemClock.monotonic() - lookedAt >= lookEveryMs) noticeForeign()
    },
    onConnectionLost: () => {},
    scrub: async () => {
      if (closed || storage.stopped()) return closed
      try {
        return emptyLog(raw)
      } catch (error) {
        throw storage.faultOf(error, 'write')
      }
    },
    storage,
    walBytes: () => statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0,
    close: async () => {
      flush(busyRetries)
      closed = true
      failAll(queue.splice(0), new Error('the database is closed'))
      raw.close()
    },
  }
}

const isBusy = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY')

/** Rolls back an open transaction; if that fails too, the next opening does it. */
function endQuietly(raw: Database, rollback: Statement): void {
  try {
    if (raw.inTransaction) rollback.run()
  } catch {
    // The callers get the first error.
  }
}

function failAll(commands: Command[], error: unknown): void {
  for (const { ended } of commands) ended?.(false)
  for (const { failed } of commands) failed(error)
}

/** Runs steps on one connection and caches every compiled statement. */
function makeDriver(raw: Database) {
  const query = drizzle(raw) as unknown as Query
  const compiled = new Map<string, { all(values: Values): unknown }>()
  const finder = compiledOnce((step: Finding) => {
    const lookUp = pointLookUp(step)
    return { ...lookUp, statement: raw.prepare(lookUp.text) }
  })
  const writer = compiledOnce((step: Writing) => {
    const { text, bind } = rowStatement(step)
    return { statement: raw.prepare(text), bind }
  })

  const perform = (step: Step): unknown => {
    if (step.kind === 'rows') return step.query.all()
    if (step.kind === 'prepared') {
      let statement = compiled.get(step.name)
      if (!statement) {
        const built = step.build(placeholders(step.values)) as unknown as Preparable
        statement = built.prepare()
        compiled.set(step.name, statement)
      }
      return statement.all(step.values)
    }
    if (step.kind === 'together') return step.steps.map(perform)
    if (step.kind === 'find') {
      const { statement, bind, read } = finder(step)
      return bind(step.where).flatMap((values) => statement.values(...values).map(read))
    }
    const { statement, bind } = writer(step)
    for (const row of step.rows) statement.run(bind(row) as never)
    return undefined
  }

  const drive = <T>(work: Work<T>): T => {
    let turn = work.next()
    while (!turn.done) {
      let outcome: unknown
      try {
        outcome = perform(turn.value)
      } catch (error) {
        turn = work.throw(error)
        continue
      }
      turn = work.next(outcome)
    }
    return turn.value
  }
  return { query, drive, perform }
}

type Preparable = { prepare(): { all(values: Values): unknown } }

/** Reads in one transaction on its own connection, one step per turn of the event loop. */
async function snapshot<T>(file: string, work: (q: Query) => Work<T>): Promise<T> {
  const raw = connect(file, { readonly: true })
  try {
    raw.run('BEGIN')
    const { query, perform } = makeDriver(raw)
    const running = work(query)
    let turn = running.next()
    while (!turn.done) {
      turn = running.next(perform(turn.value))
      await new Promise((resume) => setImmediate(resume))
    }
    return turn.value
  } finally {
    // A closed connection keeps its transaction, and so the log, until garbage collection.
    if (raw.inTransaction) raw.run('ROLLBACK')
    raw.close()
  }
}
