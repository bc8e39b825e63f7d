import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { drizzle } from 'drizzle-orm/pglite'
import { issueKey, type KeyRequest } from '../../src/access/keys/issue.ts'
import { createApp } from '../../src/app/routes.ts'
import { makeDeps } from '../../src/app/wiring.ts'
import { loadConfig } from '../../src/config/config.ts'
import type { Log } from '../../src/kernel/log.ts'
import type { Random } from '../../src/kernel/random.ts'
import { grantCredit } from '../../src/ledger/grant.ts'
import { senderOf } from '../../src/proof/anchors/sender.ts'
import { signerFromHex } from '../../src/proof/signer/signer.ts'
import { endAbandoned } from '../../src/runs/end-abandoned.ts'
import type { Db } from '../../src/storage/db/engine/db.ts'
import { openPostgres, type PgDrizzle, postgresDb } from '../../src/storage/db/engine/postgres.ts'
import { openSqlite } from '../../src/storage/db/engine/sqlite.ts'
import { migratePostgres, migrateSqlite } from '../../src/storage/db/schema/migrate.ts'
import { serve } from '../../src/web/http/serve.ts'
import { type Call, callAt } from './call.ts'
import { emptyDatabase } from './postgres.ts'

/** The first well-known test account and its private key, which everybody has. */
export const testAccount = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
export const testPrivateKey = 'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
export const usd = 1_000_000_000n

export type Engine = 'sqlite' | 'pglite' | 'postgres'

/**
 * The engines to test on: SQLite, and PostgreSQL as the real server that `TEST_DATABASE_URL` names or
 * else PGlite, which takes seconds to start. `TEST_ENGINES=sqlite` is the fastest, `all` has all three.
 */
export const engines: Engine[] = enginesOf(process.env)

/** Those of them on which several processes can share a database. */
export const sharedEngines: Engine[] = engines.filter((engine) => engine !== 'sqlite')

export type World = Awaited<ReturnType<typeof world>>

export type WorldOptions = {
  engine?: Engine
  /** `counterfoil.toml`: upstreams, models, limits. */
  toml?: string
  /** The time at the start; it moves only by `advance`. Without it the system's clock runs. */
  now?: number
  /** Milliseconds for durations; without it the system's. */
  monotonic?: () => number
  /** Without it the system's. */
  random?: Random
  /** The private key of the log; without it that of the tests. */
  signer?: string
  /** The private key that pays for anchors; the chain and its registry are the toml's to name. */
  sender?: string
}

/**
 * A whole service in this process: a fresh database, a clock you can hold, really served on a
 * loopback port. Stop it when done.
 */
export async function world(options: WorldOptions = {}) {
  const { engine = 'sqlite', toml = '', now, random, sender, signer = testPrivateKey } = options
  const { db, drop } = await freshDb(engine)
  let time = now
  let passed = 0
  const clock = {
    now: () => time ?? Date.now(),
    monotonic: options.monotonic ?? (() => performance.now() + passed),
  }
  const logged: { event: string; fields: unknown; error?: unknown }[] = []
  const deps = await makeDeps({
    config: { ...configOf(toml), listen: { hostname: '127.0.0.1', port: 0 } },
    db,
    signer: signerFromHex(signer),
    log: recordingLog(logged),
    clock,
    ...(random ? { random } : {}),
    ...(sender ? { sender: senderOf(signerFromHex(sender)) } : {}),
  })
  await endAbandoned(deps)
  const server = serve(createApp(deps), deps.settings.listen)
  const origin = `http://localhost:${server.port}`
  deps.settings.baseUrl = origin
  return {
    deps,
    db,
    origin,
    logged,
    advance: (ms: number) => {
      time = (time ?? Date.now()) + ms
      // A clock that is set back gives no time back.
      passed += Math.max(0, ms)
    },
    /** A funded key; `balance` is granted on top of what the account has. */
    key: async (wish: Partial<KeyRequest> & { balance?: bigint } = {}) => {
      const { balance = 0n, ...rest } = wish
      const account = rest.account ?? testAccount
      if (balance > 0n) {
        await grantCredit(deps, { account, amount: balance, reason: 'test', actor: 'test' })
      }
      return issueKey(deps, {
        account,
        name: 'test',
        capLimit: 1000n * usd,
        capWindow: 'lifetime',
        actor: 'test',
        ...rest,
      })
    },
    call: ((path, init) => callAt(origin, path, init)) as Call,
    stop: async () => {
      await server.stop(true)
      for (const run of deps.live.all()) run.stop('shutdown')
      const until = performance.now() + 2000
      while (deps.live.count() > 0 && performance.now() < until) await Bun.sleep(5)
      await deps.sequencer.stop()
      deps.chain?.close()
      deps.secondChain?.close()
      await db.close()
      await drop()
    },
  }
}

function enginesOf(env: Record<string, string | undefined>): Engine[] {
  const wanted = env['TEST_ENGINES']
  if (wanted === 'sqlite') return ['sqlite']
  if (!env['TEST_DATABASE_URL']) return ['sqlite', 'pglite']
  return wanted === 'all' ? ['sqlite', 'pglite', 'postgres'] : ['sqlite', 'postgres']
}

/**
 * An empty database of an engine, migrated unless `isBare`. Its clock is left out, so that leases
 * go by the clock that a test holds in its hand.
 */
export async function freshDb(
  engine: Engine,
  isBare = false,
): Promise<{ db: Db; drop: () => Promise<void> }> {
  const { db, drop } = await freshDbWithClock(engine, isBare)
  return { db: { ...db, readClock: undefined }, drop }
}

/** The same with the clock of the database's server. */
export async function freshDbWithClock(
  engine: Engine,
  isBare = false,
): Promise<{ db: Db; drop: () => Promise<void> }> {
  if (engine === 'sqlite') {
    const folder = mkdtempSync(join(tmpdir(), 'counterfoil-test-'))
    const file = join(folder, 'counterfoil.db')
    const db = isBare ? openSqlite(file) : openMigrated(file)
    // No test of a database in this process outlives a loss of power.
    db.raw.run('PRAGMA synchronous = OFF')
    return { db, drop: async () => rmSync(folder, { recursive: true, force: true }) }
  }
  if (engine === 'pglite') {
    const client = new PGlite()
    const db = postgresDb(drizzle(client) as unknown as PgDrizzle, () => client.close())
    if (!isBare) await migratePostgres(db.drizzle, 0)
    return { db, drop: async () => {} }
  }
  return freshPostgres(isBare)
}

let migrated: Uint8Array | undefined

/** Migrates the first file of this process; those after it are copies. */
function openMigrated(file: string) {
  if (migrated) writeFileSync(file, migrated)
  const db = openSqlite(file)
  if (!migrated) {
    migrateSqlite(db.raw, 0, () => {})
    migrated = db.raw.serialize()
  }
  return db
}

/** A database of its own on the server that `TEST_DATABASE_URL` names. */
async function freshPostgres(isBare: boolean): Promise<{ db: Db; drop: () => Promise<void> }> {
  const { name, url, admin, drop } = await emptyDatabase(undefined, { isMigrated: !isBare })
  // No test outlives a loss of power.
  await admin.unsafe(`alter database ${name} set synchronous_commit = off`)
  return { db: openPostgres(url), drop }
}

/** The configuration that a `counterfoil.toml` makes. */
export function configOf(toml: string) {
  const inputs = { flags: {}, env: {}, filePath: 'test.toml', readFile: readIfThere }
  const loaded = loadConfig({ ...inputs, fileText: toml })
  if ('problems' in loaded) throw new Error(loaded.problems.join('\n'))
  return loaded.config
}

/** A file that the toml names. */
const readIfThere = (path: string) =>
  existsSync(path) ? { text: readFileSync(path, 'utf8'), mode: 0o600 } : undefined

/** Keeps what is logged, so that a test can ask for it. */
function recordingLog(logged: { event: string; fields: unknown; error?: unknown }[]): Log {
  const note = (event: string, fields?: unknown) => void logged.push({ event, fields })
  return {
    debug: note,
    info: note,
    warn: note,
    error: (event, error, fields) => void logged.push({ event, fields, error }),
  }
}
