/**
 * Paid runs of the binary on a PostgreSQL server: the WAL and the CPU of backends that a run takes,
 * and how many of the updates are HOT.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type EmptyDatabase, emptyDatabase } from '../test/support/postgres.ts'
import { postgresServer } from './environment.ts'
import { runLoad } from './load.ts'
import { plain } from './paid.ts'
import { cpuUsOf } from './processes.ts'
import { type Pace, warmUp } from './rounds.ts'
import { middle, type Row } from './table.ts'
import { type Gateways, type Running, startCounterfoil } from './targets.ts'

const connections = 64

/** A gateway on a database of its own, and what its rounds came to. */
type Served = { running: Running; url: string; database: string; rounds: Round[] }
type Round = { walKb: number; backendUs: number; gatewayUs: number; perSecond: number }

export async function measureServed(
  { stub, before }: Gateways & { stub: Running },
  { seconds, rounds }: Pace,
  folder: string,
): Promise<Row[]> {
  const server = postgresServer()
  if (!server) return [{ quantity: 'PostgreSQL: WAL a run', measured: 'no BENCH_DATABASE_URL' }]
  const admin = new Bun.SQL({ url: server, max: 1 })
  const programs = [...(before ? [before.program] : []), undefined]
  const databases: EmptyDatabase[] = []
  const served: Served[] = []
  try {
    for (const program of programs) {
      const made = await emptyDatabase(server)
      databases.push(made)
      const { name: database, url } = made
      const running = await startCounterfoil(stub, {
        name: program === undefined ? 'on PostgreSQL' : 'before',
        folder: join(folder, database),
        program,
        env: { COUNTERFOIL_DATABASE_URL: url },
      })
      served.push({ running, url, database, rounds: [] })
    }
    // The first change of a page after a checkpoint writes the whole page: the warm-up pays for it.
    await admin.unsafe('checkpoint')
    for (const { running } of served) await warmUp(running, plain(connections, seconds))
    console.log(`paid runs on PostgreSQL, ${connections} at once`)
    for (let round = 0; round < rounds; round++) {
      for (const each of served) each.rounds.push(await loadOnce(admin, each, seconds))
    }
    return await rowsOf(admin, served)
  } finally {
    await Promise.all(served.map(({ running }) => running.process.stop()))
    for (const { drop } of databases) await drop()
    await admin.close()
  }
}

async function loadOnce(admin: Bun.SQL, served: Served, seconds: number): Promise<Round> {
  await untilQuiet(admin)
  const before = { lsn: await walPosition(admin), cpu: await backendsOf(admin, served) }
  const result = await runLoad(served.running, plain(connections, seconds))
  const cpu = await backendsOf(admin, served)
  const [found] = await admin`select pg_wal_lsn_diff(${await walPosition(admin)}::pg_lsn,
    ${before.lsn}::pg_lsn)::float8 as bytes`
  const runs = Math.max(1, result.requests)
  const round = {
    walKb: found.bytes / 1000 / runs,
    // Of a server on another machine there is nothing to read.
    backendUs: cpu.size === 0 ? Number.NaN : spentSince(before.cpu, cpu) / runs,
    gatewayUs: result.cpuUsPerRequest,
    perSecond: result.perSecond,
  }
  console.log(
    `  ${served.running.name.padEnd(15)}${round.perSecond.toFixed(0).padStart(7)}/s`,
    ` ${round.walKb.toFixed(2)} kB WAL  ${round.backendUs.toFixed(0)} µs CPU of PostgreSQL`,
    ` ${round.gatewayUs.toFixed(0)} µs of the gateway`,
    ...Object.entries(result.errors).map(([what, count]) => ` ${what}: ${count}`),
  )
  return round
}

/** Until all gateways have signed and counted what they ran before, a minute at most. */
export async function untilQuiet(admin: Bun.SQL): Promise<void> {
  for (let tries = 0; tries < 60; tries++) {
    const from = await walPosition(admin)
    await Bun.sleep(1000)
    const [found] = await admin`select pg_wal_lsn_diff(pg_current_wal_insert_lsn(),
      ${from}::pg_lsn)::float8 as bytes`
    if (found.bytes < quietBytes) return
  }
}

/** What a gateway without callers writes in a second, at most. */
const quietBytes = 20_000

/** The position of the whole server: writes of other databases count, so run nothing else on it. */
async function walPosition(admin: Bun.SQL): Promise<string> {
  const [found] = await admin`select pg_current_wal_insert_lsn()::text as lsn`
  return found.lsn
}

/** The CPU time of each backend that serves this database, in µs, if they run on this machine. */
export async function backendsOf(
  admin: Bun.SQL,
  { database }: { database: string },
): Promise<Map<number, number>> {
  const rows: { pid: number }[] =
    await admin`select pid from pg_stat_activity where datname = ${database}`
  const here = rows.filter(({ pid }) => isPostgres(pid))
  return new Map(here.map(({ pid }) => [pid, cpuUsOf(pid)]))
}

/** A backend that is new since then began at nothing. */
export const spentSince = (then: Map<number, number>, now: Map<number, number>): number =>
  [...now].reduce((sum, [pid, us]) => sum + us - (then.get(pid) ?? 0), 0)

function isPostgres(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('postgres')
  } catch {
    return false
  }
}

async function rowsOf(admin: Bun.SQL, served: readonly Served[]): Promise<Row[]> {
  const [after, before] = served.toReversed()
  if (!after) throw new Error('no gateway was measured')
  const [set] = await admin`select current_setting('full_page_writes') as full_pages`
  const of = (value: (round: Round) => number) => ({
    measured: middle(after.rounds.map(value)),
    before: before && middle(before.rounds.map(value)),
  })
  const cpu = of(({ backendUs }) => backendUs)
  return [
    {
      quantity: `PostgreSQL: WAL a run, kB (full_page_writes ${set.full_pages})`,
      ...of(({ walKb }) => walKb),
      gate: ['≤', 2],
    },
    {
      quantity: 'PostgreSQL: CPU of its backends a run, against before',
      measured: cpu.before === undefined ? 'needs --before' : cpu.measured / cpu.before,
      before: before && 1,
      gate: ['≤', 0.6],
    },
    { quantity: 'PostgreSQL: CPU of its backends a run, µs', ...cpu },
    {
      quantity: 'PostgreSQL: share of HOT updates, %',
      measured: await hotShare(after),
      before: before && (await hotShare(before)),
      gate: ['≥', 80],
    },
    { quantity: 'PostgreSQL: CPU of the gateway a run, µs', ...of(({ gatewayUs }) => gatewayUs) },
    { quantity: 'PostgreSQL: paid runs a second', ...of(({ perSecond }) => perSecond) },
  ]
}

/** Updates that touched no index, of all since the database was made, in percent. */
async function hotShare({ url }: Served): Promise<number> {
  const sql = new Bun.SQL({ url, max: 1 })
  try {
    const [found] = await sql`select 100 * sum(n_tup_hot_upd)::float8 / sum(n_tup_upd)::float8
      as share from pg_stat_user_tables`
    return found.share
  } finally {
    await sql.close()
  }
}
