/**
 * `bun bench/growth.ts [receipts,…] [postgres://…]`: what a database of so many receipts takes, by
 * table, and what reading, writing, starting and saving it costs; on SQLite, or on a PostgreSQL
 * server of this machine, in databases of its own that it drops.
 */
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp } from '../src/app/routes.ts'
import { makeDeps } from '../src/app/wiring.ts'
import { loadConfig } from '../src/config/config.ts'
import { systemClock } from '../src/kernel/clock.ts'
import { toHex } from '../src/kernel/hex.ts'
import { auditStore } from '../src/ledger/store/audit.ts'
import { signerFromHex } from '../src/proof/signer/signer.ts'
import type { Db } from '../src/storage/db/engine/db.ts'
import { openPostgres } from '../src/storage/db/engine/postgres.ts'
import { openSqlite } from '../src/storage/db/engine/sqlite.ts'
import { migratePostgres, migrateSqlite } from '../src/storage/db/schema/migrate.ts'
import { useWasmKeccak } from '../src/verify/fast/keccak-wasm.ts'
import { wholeApp } from '../src/web/http/lazy-mount.ts'
import { freePort } from '../test/support/free-port.ts'
import { emptyDatabase } from '../test/support/postgres.ts'
import { binary, environment } from './environment.ts'
import { type Filled, fill } from './growth-fill.ts'
import { measureTurns, openRuns } from './ledger-runs.ts'
import { usageOf } from './processes.ts'
import { backendsOf, spentSince } from './served-postgres.ts'
import { digits } from './table.ts'
import { answers, serveCommand } from './targets.ts'

const [sizes = '10000,100000,1000000', server] = Bun.argv.slice(2)
const issuer = 'http://localhost:4663'
/** The key of the first well-known test account, which everybody has. */
const testKey = 'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
/** Reads of a kind, after as many for the compilers and the caches. */
const requests = 200
const runSeconds = 2
/** SQLite's cache while it is filled: the pages that every COMMIT changes fit in. */
const fillCacheKib = 1_000_000
/** Bytes a receipt of a table or an index that has a line of its own. */
const worthSaying = 10
/** Everything below belongs to PostgreSQL itself. */
const firstOwnOid = 16_384

/** The figures of one size, by what they are of; each is said as it comes. */
class Figures extends Map<string, number> {
  override set(name: string, value: number): this {
    console.error(`  ${name}: ${digits(value)}`)
    return super.set(name, value)
  }
}

/** A database of its own for one size, and how it is read from outside. */
type Place = {
  db: Db
  data: string
  env: Record<string, string>
  /** CPU of the server beside this process, in µs. */
  outside(): Promise<Map<number, number>>
  /** Lets it be filled faster than it serves. @returns what puts it back, with all on disk. */
  hurry(): () => Promise<void>
  bytes(): Promise<[name: string, bytes: number][]>
  save(): { bytes: number; cpuMs: number }
  remove(): Promise<void>
}

useWasmKeccak()
const columns: Figures[] = []
const counts = sizes.split(',').map(Number)
for (const count of counts) {
  const place = await (server ? onPostgres(server) : onSqlite())
  try {
    columns.push(await measure(place, count))
  } finally {
    await place.remove()
  }
}
const names = [...new Set(columns.flatMap((figures) => [...figures.keys()]))]
console.log(`| | ${counts.map((count) => count.toLocaleString('en')).join(' | ')} |`)
console.log(`|---|${counts.map(() => '---|').join('')}`)
for (const name of names) {
  const cells = columns.map((figures) => {
    const value = figures.get(name)
    return value === undefined ? '' : digits(value)
  })
  console.log(`| ${name} | ${cells.join(' | ')} |`)
}
process.exit(0)

async function measure(place: Place, count: number): Promise<Figures> {
  const figures = new Figures()
  const begun = performance.now()
  const settle = place.hurry()
  const filled = await fill(place.db, count, issuer)
  await settle()
  console.error(`${count}: filled in ${((performance.now() - begun) / 1000).toFixed(0)} s`)
  const sizes = (await place.bytes()).toSorted(([, a], [, b]) => b - a)
  const all = sizes.reduce((sum, [, bytes]) => sum + bytes, 0)
  figures.set('bytes a receipt, all', all / count)
  for (const [name, bytes] of sizes) {
    if (bytes / count >= worthSaying) figures.set(`bytes a receipt: ${name}`, bytes / count)
  }
  await measureReads(place, filled, figures)
  const [, cpuMs] = await cpuOf(place, async () => {
    const faults = await auditStore(place.db).whole(systemClock.now())
    if (faults.length > 0) throw new Error(faults.slice(0, 5).join('\n'))
  })
  figures.set('audit of the ledger: CPU ms', cpuMs)
  const saved = place.save()
  figures.set('backup: CPU ms', saved.cpuMs)
  figures.set('backup: MB', saved.bytes / 1e6)
  await measureRuns(place, figures)
  await place.db.close()
  await measureStart(place, figures)
  return figures
}

/** CPU of this process and of the server together, in ms. */
async function cpuOf<T>({ outside }: Place, work: () => Promise<T>): Promise<[T, number]> {
  const backends = await outside()
  const before = process.cpuUsage()
  const result = await work()
  const { user, system } = process.cpuUsage(before)
  return [result, (user + system + spentSince(backends, await outside())) / 1000]
}

async function measureReads(place: Place, filled: Filled, figures: Figures): Promise<void> {
  const inputs = { flags: {}, env: {}, filePath: 'bench.toml', readFile: () => undefined }
  const limits = '[limits]\nrpm = 1_000_000\nkeyless_per_minute = 1_000_000\n'
  const fileText = `base_url = "${issuer}"\n${limits}`
  const loaded = loadConfig({ ...inputs, fileText })
  if ('problems' in loaded) throw new Error(loaded.problems.join('\n'))
  const quiet = () => {}
  const log = { debug: quiet, info: quiet, warn: quiet, error: console.error }
  // Each round makes the cached figures old.
  let leapMs = 0
  const clock = { ...systemClock, now: () => systemClock.now() + leapMs }
  const parts = { config: loaded.config, db: place.db, signer: signerFromHex(testKey), log, clock }
  const deps = await makeDeps(parts)
  const app = await wholeApp(createApp(deps))
  const { secret, cookie, receipts, digests } = filled
  const host = new URL(issuer).host
  const ask = async (path: string): Promise<void> => {
    const headers = { host, ...(path.startsWith('/v1') && { authorization: `Bearer ${secret}` }) }
    const request = new Request(issuer + path, { headers: { ...headers, cookie } })
    const answer = await app.handle(request)
    const body = await answer.text()
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${body.slice(0, 300)}`)
  }
  const any = (i: number): number => (i * 7919) % receipts.length
  const [middle = ''] = receipts.slice(receipts.length >> 1)
  const reads: Record<string, (i: number) => string> = {
    'a receipt': (i) => `/v1/receipts/${receipts[any(i) - (any(i) % 10)]}`,
    'a proof': (i) => `/v1/receipts/${receipts[any(i)]}/proof`,
    'the newest 100 receipts of an account': () => '/v1/receipts?limit=100',
    '100 receipts from the middle': () => `/v1/receipts?limit=100&after=${middle}`,
    'the newest 100 public ones': () => '/v1/explorer/recent?limit=100',
    'search by the beginning of an id': (i) => `/explorer?q=${receipts[any(i)]?.slice(0, 20)}`,
    'search by the beginning of a hash': (i) =>
      `/explorer?q=${toHex(digests[any(i)] ?? new Uint8Array()).slice(0, 12)}`,
    'a page of the statement': () => '/api/portal/statement?limit=100',
  }
  for (const [name, path] of Object.entries(reads)) {
    for (let i = 0; i < requests; i++) await ask(path(i))
    const [, cpuMs] = await cpuOf(place, async () => {
      for (let i = 0; i < requests; i++) {
        leapMs += 10_001
        await ask(path(i))
      }
    })
    figures.set(`${name}: CPU ms`, cpuMs / requests)
  }
  const [, cpuMs] = await cpuOf(place, () => ask('/api/portal/statement?by=day'))
  figures.set('the month of the statement by day, of a tenth of all receipts: CPU ms', cpuMs)
  await deps.sequencer.stop()
}

async function measureRuns(place: Place, figures: Figures): Promise<void> {
  const runOnce = await openRuns(place.db, 16)
  await measureTurns(runOnce, 32, runSeconds)
  const backends = await place.outside()
  const { cpuUs, perSecond } = await measureTurns(runOnce, 32, runSeconds)
  const outside = spentSince(backends, await place.outside())
  figures.set('a hold and its end, 32 at once: CPU µs', cpuUs + outside / (perSecond * runSeconds))
}

async function measureStart({ data, env }: Place, figures: Figures): Promise<void> {
  const cpus: number[] = []
  const given = environment({ COUNTERFOIL_BASE_URL: issuer, ...env })
  for (let i = 0; i < 3; i++) {
    const port = freePort()
    const quiet = { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' } as const
    const child = Bun.spawn(serveCommand(data, port), { cwd: data, env: given, ...quiet })
    await answers(`http://127.0.0.1:${port}/v1/status`)
    cpus.push(usageOf(child.pid).cpuUs / 1000)
    child.kill('SIGKILL')
    await child.exited
  }
  figures.set('start to the first answer: CPU ms', Math.min(...cpus))
}

function makeFolder(): string {
  const data = mkdtempSync(join(tmpdir(), 'counterfoil-growth-'))
  writeFileSync(join(data, 'signer.key'), `0x${testKey}\n`)
  chmodSync(join(data, 'signer.key'), 0o600)
  return data
}

function saveBy(command: string[], file: string, env = environment()) {
  const done = Bun.spawnSync(command, { env, stdout: 'ignore', stderr: 'pipe' })
  if (done.exitCode !== 0) throw new Error(`${command.join(' ')}: ${done.stderr}`)
  return { bytes: statSync(file).size, cpuMs: Number(done.resourceUsage.cpuTime.total) / 1000 }
}

async function onSqlite(): Promise<Place> {
  const data = makeFolder()
  const db = openSqlite(join(data, 'counterfoil.db'))
  migrateSqlite(db.raw, systemClock.now(), () => {})
  const file = join(data, 'backup.db')
  return {
    db,
    data,
    env: {},
    outside: async () => new Map(),
    hurry() {
      const before = db.raw.query('PRAGMA cache_size').values()[0]?.[0]
      db.raw.run('PRAGMA synchronous = OFF')
      db.raw.run(`PRAGMA cache_size = -${fillCacheKib}`)
      return async () => {
        db.raw.run('PRAGMA wal_checkpoint(TRUNCATE)')
        // Else the first sync of what is measured waits for all of it.
        Bun.spawnSync(['sync', join(data, 'counterfoil.db')])
        db.raw.run('PRAGMA synchronous = FULL')
        db.raw.run(`PRAGMA cache_size = ${before}`)
      }
    },
    async bytes() {
      const text = 'select name, sum(pgsize) from dbstat group by name'
      const found = db.raw.query(text).values() as [string, number | bigint][]
      return found.map(([name, bytes]) => [name, Number(bytes)])
    },
    save: () => saveBy([binary(), 'backup', file, '--data', data], file),
    remove: async () => rmSync(data, { recursive: true }),
  }
}

async function onPostgres(address: string): Promise<Place> {
  const data = makeFolder()
  const { name: database, url, sql, admin, drop } = await emptyDatabase(address)
  const db = openPostgres(url)
  await migratePostgres(db.drizzle, systemClock.now())
  const file = join(data, 'backup.dump')
  return {
    db,
    data,
    env: { COUNTERFOIL_DATABASE_URL: url },
    outside: () => backendsOf(admin, { database }),
    hurry: () => async () => {
      // Autovacuum does it within a minute, in the middle of what is measured.
      await sql.unsafe('vacuum analyze')
      await sql.unsafe('checkpoint')
    },
    async bytes() {
      const rows: { name: string; bytes: number }[] = await sql`select relname as name,
        pg_relation_size(oid)::float8 as bytes from pg_class where relkind in ('r', 'i', 't')
        and oid >= ${firstOwnOid}`
      return rows.map(({ name, bytes }) => [name, bytes])
    },
    save: () => saveBy(['pg_dump', '-Fc', '-f', file, url], file),
    async remove() {
      await drop()
      rmSync(data, { recursive: true })
    },
  }
}
