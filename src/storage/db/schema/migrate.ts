/** Brings databases to the schema of this build, and tells how far they are. */
import type { Database } from 'bun:sqlite'
import { sql } from 'drizzle-orm'
import type { Millis } from '../../../kernel/clock.ts'
import type { PgDirect } from '../engine/pg-drizzle.ts'
import { embedMigrations, embedSteps } from './migrations.macro.ts' with { type: 'macro' }
import type { Migration, Step } from './migrations.macro.ts'
import { neededStep, needsTable, schemaHealthOf } from './schema-needs.ts'

/** The steps of a schema. Most starts need none of their `texts`: only a call loads them. */
export type Schema = { steps: readonly Step[]; texts: () => readonly Migration[] }

const sqliteSchema: Schema = {
  steps: embedSteps('sqlite'),
  texts: () => embedMigrations('sqlite'),
}
const pgSchema: Schema = { steps: embedSteps('pg'), texts: () => embedMigrations('pg') }

/** The `application_id` of our SQLite files, "CFL1": a foreign database is never taken for ours. */
const applicationId = 0x43464c31

/** How long a process waits for another one that migrates the same file, in ms. */
const migrationWaitMs = 10_000

const bookkeeping =
  'create table if not exists migrations ' +
  '(tag text primary key, hash text not null, applied_at bigint not null)'

/** @throws Error when a SQLite file with this `application_id` belongs to something else. */
export function assertOurs(stamp: number, empty: boolean): void {
  if (empty || stamp === applicationId) return
  throw new Error('this file is a database of another program; choose another data folder')
}

/**
 * The missing migrations: none for a newer database that only adds to this build's schema.
 * `needed` is what that database says ({@link neededStep}).
 * @throws ForeignSchema if this build cannot serve the database
 * @throws Error if a migration was edited
 */
export function pendingOf(all: readonly Step[], applied: readonly Step[], needed?: string): Step[] {
  for (const { tag, hash } of applied) {
    const known = all.find((step) => step.tag === tag)
    if (known && known.hash !== hash)
      throw new Error(`migration ${tag} changed after it was applied`)
  }
  const pending = all.filter(({ tag }) => !applied.some((done) => done.tag === tag))
  const steps = all.map(({ tag }) => tag)
  const unknown = applied.find(({ tag }) => !steps.includes(tag))
  if (!unknown) return pending
  const health = schemaHealthOf(steps, { newest: unknown.tag, needed })
  // A step of ours that is missing below a newer one belongs to another history.
  if (health === 'newer' && pending.length === 0) return []
  throw new ForeignSchema(unknown.tag)
}

/** A newer build changed the database: this build cannot serve it. */
export class ForeignSchema extends Error {
  constructor(readonly tag: string) {
    super(`the database has migration ${tag}, unknown to this build: run a newer build`)
  }
}

/** The statements of a step. */
function statementsOf(all: readonly Migration[], { tag }: Step): string[] {
  const found = all.find((migration) => migration.tag === tag)
  if (!found) throw new Error(`migration ${tag} is not in this build`)
  return found.statements
}

/**
 * Migrates a SQLite file, one transaction a step, or one for all steps of a new file. Returns the
 * steps taken. Calls `backup` once before the first step on a file that has a schema.
 */
export function migrateSqlite(
  raw: Database,
  now: Millis,
  backup: () => void,
  schema: Schema = sqliteSchema,
): string[] {
  const patience = raw.prepare('PRAGMA busy_timeout').values()[0]?.[0]
  raw.run(`PRAGMA busy_timeout = ${migrationWaitMs}`)
  try {
    return migrateAlone(raw, now, backup, schema)
  } finally {
    raw.run(`PRAGMA busy_timeout = ${patience}`)
  }
}

function migrateAlone(
  raw: Database,
  now: Millis,
  backup: () => void,
  { steps, texts }: Schema,
): string[] {
  const empty = raw.prepare('select 1 from sqlite_master limit 1').values().length === 0
  const stamp = raw.prepare('PRAGMA application_id').values()[0]?.[0]
  assertOurs(Number(stamp), empty)
  beginBooks(raw, empty)
  const applied = raw.query('select tag, hash from migrations').all() as Step[]
  const pending = pendingOf(steps, applied, neededBy(raw))
  const loaded = pending.length > 0 ? texts() : []
  if (pending.length > 0 && applied.length > 0) backup()
  // A rebuilt table must not fire ON DELETE; SQLite ignores this pragma inside a transaction.
  raw.run('PRAGMA foreign_keys = OFF')
  // A new file has nothing to lose, and each COMMIT waits for the disk.
  const batches = applied.length === 0 ? [pending] : pending.map((step) => [step])
  for (const batch of batches) {
    raw.transaction(() => takeSteps(raw, batch, loaded, now)).immediate()
  }
  raw.run('PRAGMA foreign_keys = ON')
  return pending.map(({ tag }) => tag)
}

function beginBooks(raw: Database, empty: boolean): void {
  if (empty) raw.run(`PRAGMA application_id = ${applicationId}`)
  raw.run(`${bookkeeping} strict`.replace('bigint', 'integer'))
}

function takeSteps(raw: Database, steps: Step[], texts: readonly Migration[], now: Millis): void {
  const isApplied = raw.query('select 1 from migrations where tag = ?')
  // Another process may have taken a step while we waited for the lock.
  const own = steps.filter(({ tag }) => !isApplied.get(tag))
  for (const step of own) {
    for (const statement of statementsOf(texts, step)) raw.run(statement)
    noteStep(raw, step, now)
  }
  if (own.length > 0) noteNeeds(raw)
  if (own.length > 0 && raw.prepare('PRAGMA foreign_key_check').values().length > 0) {
    throw new Error(`migration ${own.map(({ tag }) => tag).join(', ')} breaks a foreign key`)
  }
}

function noteStep(raw: Database, { tag, hash }: Step, now: Millis): void {
  raw.run('insert into migrations values (?, ?, ?)', [tag, hash, BigInt(now)])
}

/** Replaces what the database says of the builds that can serve it. */
function noteNeeds(raw: Database): void {
  raw.run(`${needsTable} strict`)
  raw.run('delete from schema_needs')
  raw.run('insert into schema_needs values (?)', [neededStep])
}

function neededBy(raw: Database): string | undefined {
  const has = raw.prepare("select 1 from sqlite_master where name = 'schema_needs'").values()
  if (has.length === 0) return undefined
  return raw.prepare('select max(tag) from schema_needs').values()[0]?.[0] as string | undefined
}

/** Records all migrations in a database that has this build's schema; returns the steps. */
export function noteSteps(raw: Database, now: Millis): string[] {
  beginBooks(raw, true)
  for (const step of sqliteSchema.steps) noteStep(raw, step, now)
  noteNeeds(raw)
  return sqliteSchema.steps.map(({ tag }) => tag)
}

/** The applied steps with their times, the pending ones, and those of a newer build. */
export type MigrationState = {
  applied: { tag: string; at: Millis }[]
  pending: string[]
  unknown: string[]
}

/**
 * The migrations of a SQLite file; writes nothing.
 * @throws Error if it is another program's or newer than this build, or a migration was edited.
 */
export function sqliteState(raw: Database): MigrationState {
  const has = raw.prepare('select name from sqlite_master').values().flat()
  assertOurs(Number(raw.prepare('PRAGMA application_id').values()[0]?.[0]), has.length === 0)
  if (!has.includes('migrations')) return stateOf(sqliteSchema.steps, [])
  const taken = raw.query('select tag, hash, applied_at from migrations').all() as AppliedStep[]
  return stateOf(sqliteSchema.steps, taken, neededBy(raw))
}

/** The migrations of a PostgreSQL database; writes nothing. @throws Error as {@link sqliteState} */
export async function postgresState(pg: PgDirect): Promise<MigrationState> {
  const there = rowsOf(await pg.execute(sql`select to_regclass('migrations') is not null as has`))
  if (!(there[0] as unknown as { has: boolean }).has) return stateOf(pgSchema.steps, [])
  const found = await pg.execute(sql`select tag, hash, applied_at from migrations`)
  return stateOf(pgSchema.steps, rowsOf(found) as AppliedStep[], await neededIn(pg))
}

type AppliedStep = Step & { applied_at: bigint | number | string }

function stateOf(all: readonly Step[], taken: AppliedStep[], needed?: string): MigrationState {
  const applied = taken.map(({ tag, applied_at }) => ({ tag, at: Number(applied_at) }))
  const unknown = taken.map(({ tag }) => tag).filter((tag) => !all.some((one) => one.tag === tag))
  return { applied, pending: pendingOf(all, taken, needed).map(({ tag }) => tag), unknown }
}

/** How long a step waits for its locks, and how often a busy one is tried, 1 s apart. */
export type LockPatience = { lockMs: number; tries: number }

/**
 * Migrates a PostgreSQL database, one node at a time, one transaction a step (all steps of an empty
 * one). A step that waits for a lock would hold up every query behind it, so it gives up soon and
 * comes again. Returns the steps taken.
 * @throws Error when some other transaction keeps a table locked.
 */
export async function migratePostgres(
  pg: PgDirect,
  now: Millis,
  { lockMs, tries }: LockPatience = { lockMs: 3000, tries: 20 },
  schema: Schema = pgSchema,
): Promise<string[]> {
  const taken: string[] = []
  for (let failed = 0; ; ) {
    try {
      const steps = await pg.transaction((tx) => takeNext(tx, now, lockMs, schema))
      if (steps.length === 0) return taken
      taken.push(...steps)
    } catch (error) {
      if (!isLockTimeout(error)) throw error
      if (++failed >= tries) throw lockedOut(error)
      await Bun.sleep(1000)
    }
  }
}

async function takeNext(
  tx: PgDirect,
  now: Millis,
  lockMs: number,
  schema: Schema,
): Promise<string[]> {
  await tx.execute(sql`select pg_advisory_xact_lock(${applicationId})`)
  // Behind the line of nodes: the lock of another one that migrates is worth a longer wait.
  await tx.execute(sql.raw(`set local lock_timeout = ${lockMs}`))
  await tx.execute(sql.raw(bookkeeping))
  const applied = rowsOf(await tx.execute(sql`select tag, hash from migrations`))
  const needed = await neededIn(tx)
  const pending = pendingOf(schema.steps, applied, needed)
  const texts = pending.length > 0 ? schema.texts() : []
  const steps = applied.length === 0 ? pending : pending.slice(0, 1)
  for (const step of steps) {
    for (const statement of statementsOf(texts, step)) await tx.execute(sql.raw(statement))
    await tx.execute(sql`insert into migrations values (${step.tag}, ${step.hash}, ${now})`)
  }
  if (steps.length > 0) {
    await tx.execute(sql.raw(needsTable))
    await tx.execute(sql`delete from schema_needs`)
    await tx.execute(sql`insert into schema_needs values (${neededStep})`)
  }
  return steps.map(({ tag }) => tag)
}

async function neededIn(pg: Pick<PgDirect, 'execute'>): Promise<string | undefined> {
  const there = rowsOf(await pg.execute(sql`select to_regclass('schema_needs') is not null as has`))
  if (!(there[0] as unknown as { has: boolean }).has) return undefined
  const [row] = rowsOf(await pg.execute(sql`select tag from schema_needs`))
  return row?.tag
}

/** SQLSTATE 55P03, which Bun has in `errno`, PGlite in `code`. */
function isLockTimeout(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { errno, code } = at as { errno?: unknown; code?: unknown }
    if (errno === '55P03' || code === '55P03') return true
  }
  return false
}

const lockedOut = (cause: unknown): Error =>
  new Error(
    'another transaction keeps a table locked that a migration changes: find it in ' +
      'pg_stat_activity (state "idle in transaction"), end it and start again',
    { cause },
  )

/** Bun's client returns an array of rows, PGlite an object that holds one. */
const rowsOf = (result: unknown): Step[] =>
  (Array.isArray(result) ? [...result] : (result as { rows: Step[] }).rows) as Step[]

/** The names of this build's migrations, in their order: the same on both engines. */
export const schemaSteps: readonly string[] = sqliteSchema.steps.map(({ tag }) => tag)

/** The number of migrations of this build. */
export const schemaVersion = (engine: 'sqlite' | 'postgres'): number =>
  (engine === 'sqlite' ? sqliteSchema : pgSchema).steps.length
