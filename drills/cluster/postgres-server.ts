/** PostgreSQL servers of a drill's own: a primary, and standbys made of it by `pg_basebackup`. */
import { chmodSync, chownSync, existsSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../test/support/free-port.ts'
import { asPostgres, postgresPrograms } from '../../test/support/own-postgres.ts'
import { until } from '../../test/support/runs.ts'

/** The superuser and the database of every server here; connections come from loopback alone. */
export const user = 'counterfoil'
const database = 'counterfoil'

export type PgServer = {
  port: number
  data: string
  url: string
  /** Runs statements as the superuser on a connection of its own. */
  ask<T = Record<string, unknown>>(...statements: string[]): Promise<T[]>
  start(): Promise<void>
  /** Ends every process of the server by SIGKILL, as a power cut does. */
  kill(): Promise<void>
  /** Makes the database of {@link PgServer.url}. */
  makeDatabase(): Promise<void>
}

export type PgFarm = {
  /** A folder of the servers' own, and where their programs are. */
  folder: string
  programs: string
  /** An empty server, started; with `isClockFaked` a file beside its data sets its clock. */
  primary(isClockFaked?: boolean): Promise<PgServer>
  /** A running physical copy of `source` that follows it under the name `standby`. */
  standby(source: PgServer): Promise<PgServer>
  remove(): Promise<void>
}

/** @throws Error without PostgreSQL's server programs. */
export async function makePgFarm(): Promise<PgFarm> {
  const programs = postgresPrograms
  if (!programs) throw new Error('PostgreSQL is missing: apt-get install postgresql')
  const folder = await mkdtemp(join(tmpdir(), 'counterfoil-pg-'))
  const ids = idsOfPostgres()
  if (ids) chownSync(folder, ...ids)
  chmodSync(folder, 0o700)
  const servers: PgServer[] = []
  const serverIn = async (
    make: (data: string, port: number) => Promise<void>,
    isClockFaked = false,
  ) => {
    const port = freePort()
    const data = join(folder, `data-${servers.length}`)
    await make(data, port)
    const server = pgServer({ programs, folder, data, port }, isClockFaked)
    servers.push(server)
    await server.start()
    return server
  }
  return {
    folder,
    programs,
    async primary(isClockFaked) {
      const init = (data: string) =>
        runProgram(join(programs, 'initdb'), [
          ...['-D', data, '-U', user, '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync'],
        ])
      const server = await serverIn(init, isClockFaked)
      await server.makeDatabase()
      return server
    },
    standby: (source) =>
      serverIn((data) => {
        const from = `host=127.0.0.1 port=${source.port} user=${user} application_name=standby`
        return runProgram(join(programs, 'pg_basebackup'), [
          '-d',
          from,
          '-D',
          data,
          '-R',
          '-X',
          'stream',
          '-c',
          'fast',
        ])
      }),
    async remove() {
      for (const server of servers) await server.kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Debian's `faketime`, as a library; undefined where it is not installed. */
export const fakeTime = ['x86_64', 'aarch64']
  .map((machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketime.so.1`)
  .find((file) => existsSync(file))

/** Behind `setpriv`: what it shares with its children belongs to who made it. */
const fakedBy = (file: string): string[] => [
  'env',
  `LD_PRELOAD=${fakeTime}`,
  `FAKETIME_TIMESTAMP_FILE=${file}`,
  'FAKETIME_NO_CACHE=1',
  'FAKETIME_DISABLE_SHM=1',
  'FAKETIME_DONT_FAKE_MONOTONIC=1',
]

type Place = { programs: string; folder: string; data: string; port: number }

function pgServer({ programs, folder, data, port }: Place, isClockFaked: boolean): PgServer {
  let running: Bun.Subprocess | undefined
  const settings = ['max_connections=200', 'wal_keep_size=1GB', 'max_wal_senders=5']
  return pgServerAt({
    programs,
    data,
    port,
    async start() {
      const options = settings.flatMap((setting) => ['-c', setting])
      const place = ['-D', data, '-h', '127.0.0.1', '-p', String(port), '-k', folder]
      const log = Bun.file(join(folder, `${port}.log`))
      const clock = `${data}.clock`
      if (isClockFaked && !existsSync(clock)) writeFileSync(clock, '+0s', { mode: 0o644 })
      const program = [...(isClockFaked ? fakedBy(clock) : []), join(programs, 'postgres')]
      running = Bun.spawn([...asPostgres, ...program, ...place, ...options], {
        stdin: 'ignore',
        stdout: log,
        stderr: log,
      })
      const ready = ['-h', '127.0.0.1', '-p', String(port), '-q']
      await until(
        'PostgreSQL to take connections',
        () => Bun.spawnSync([join(programs, 'pg_isready'), ...ready]).exitCode === 0,
        30_000,
      )
    },
    async end() {
      const server = running
      running = undefined
      if (!server || server.exitCode !== null) return
      // Its workers are children; a SIGKILL of the first process alone lets them end their work.
      Bun.spawnSync(['pkill', '-KILL', '-P', String(server.pid)])
      server.kill('SIGKILL')
      await server.exited
    },
  })
}

type Handle = Omit<Place, 'folder'> & { start(): Promise<void>; end(): Promise<void> }

/** A server at a port of loopback, however it is started and ended. */
export function pgServerAt({ programs, data, port, start, end }: Handle): PgServer {
  const url = `postgres://${user}@127.0.0.1:${port}/${database}`
  return {
    port,
    data,
    url,
    async ask<T>(...statements: string[]) {
      const sql = new Bun.SQL({ url, max: 1, connectionTimeout: 5 })
      try {
        let last: T[] = []
        for (const statement of statements) last = (await sql.unsafe(statement)) as T[]
        return last
      } finally {
        await sql.close()
      }
    },
    start,
    kill: end,
    makeDatabase: () =>
      runProgram(join(programs, 'createdb'), [
        ...['-h', '127.0.0.1', '-p', String(port), '-U', user, database],
      ]),
  }
}

/** Lets a primary wait for its standby at each COMMIT: no failover loses what was acknowledged. */
export async function replicateSynchronously(primary: PgServer): Promise<void> {
  await primary.ask(
    `alter system set synchronous_standby_names = 'standby'`,
    'alter system set synchronous_commit = on',
    'select pg_reload_conf()',
  )
  await until('the standby to be synchronous', async () => {
    const [row] = await primary.ask<{ sync_state: string }>(
      `select sync_state from pg_stat_replication where application_name = 'standby'`,
    )
    return row?.sync_state === 'sync'
  })
}

/** Waits until the standby has everything that the primary committed. */
export async function untilCaughtUp(primary: PgServer, standby: PgServer): Promise<void> {
  const [at] = await primary.ask<{ lsn: string }>('select pg_current_wal_lsn() as lsn')
  await until('the standby to catch up', async () => {
    const [row] = await standby.ask<{ is_there: boolean }>(
      `select pg_last_wal_replay_lsn() >= '${at?.lsn}'::pg_lsn as is_there`,
    )
    return row?.is_there === true
  })
}

/** Cuts a standby off from its primary: it stays at what it has. */
export async function stopFollowing(standby: PgServer): Promise<void> {
  await standby.ask(`alter system set primary_conninfo = ''`, 'select pg_reload_conf()')
  await until('the standby to stop following', async () => {
    return (await standby.ask('select 1 from pg_stat_wal_receiver')).length === 0
  })
}

/** Makes a standby the primary, one that waits for no standby of its own. */
export async function promote(standby: PgServer): Promise<void> {
  await standby.ask(`alter system set synchronous_standby_names = ''`, 'select pg_reload_conf()')
  await standby.ask('select pg_promote(true, 30)')
}

/** The user and group that servers run as; undefined where they run as this process does. */
export function idsOfPostgres(): [uid: number, gid: number] | undefined {
  if (asPostgres.length === 0) return undefined
  const idOf = (option: string) => Number(Bun.spawnSync(['id', option, 'postgres']).stdout)
  return [idOf('-u'), idOf('-g')]
}

async function runProgram(program: string, args: string[]): Promise<void> {
  const child = Bun.spawn([...asPostgres, program, ...args], {
    cwd: tmpdir(),
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const said = await new Response(child.stderr).text()
  if ((await child.exited) !== 0) throw new Error(`${program} failed: ${said}`)
}
