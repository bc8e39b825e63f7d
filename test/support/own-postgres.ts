import { existsSync, readdirSync } from 'node:fs'
import { appendFile, chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'

/** Where Debian puts the newest PostgreSQL; undefined where there is none. */
export const postgresPrograms = ['/usr/lib/postgresql']
  .filter((folder) => existsSync(folder))
  .flatMap((folder) =>
    readdirSync(folder)
      .sort((a, b) => Number(a) - Number(b))
      .map((release) => join(folder, release, 'bin')),
  )
  .filter((folder) => existsSync(join(folder, 'initdb')))
  .at(-1)

/** PostgreSQL refuses to run as root, so root runs it as this user. */
export const asPostgres =
  process.getuid?.() === 0
    ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups']
    : []

export const noOwnPostgres =
  postgresPrograms === undefined || (asPostgres.length > 0 && Bun.which('setpriv') === null)

export type OwnPostgres = Awaited<ReturnType<typeof startOwnPostgres>>

/** A PostgreSQL server of a test's own, to be stopped and reconfigured. */
export async function startOwnPostgres() {
  const folder = await mkdtemp(join(tmpdir(), 'counterfoil-postgres-'))
  const data = join(folder, 'data')
  if (asPostgres.length > 0) run(['chown', 'postgres', folder])
  await chmod(folder, 0o755)
  const port = freePort()
  run([
    ...asPostgres,
    join(postgresPrograms ?? '', 'initdb'),
    '-D',
    data,
    '-U',
    'tester',
    '-A',
    'trust',
    '-N',
  ])
  await appendFile(
    join(data, 'postgresql.conf'),
    `port = ${port}
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
fsync = off
`,
  )
  const control = (...args: string[]): void => {
    const log = join(folder, 'log')
    run([
      ...asPostgres,
      join(postgresPrograms ?? '', 'pg_ctl'),
      '-D',
      data,
      '-l',
      log,
      '-w',
      ...args,
    ])
  }
  control('start')
  return {
    folder,
    port,
    url: (database = 'postgres') => `postgres://tester@127.0.0.1:${port}/${database}`,
    start: () => control('start'),
    /** Ends all connections at once, in order: what is open is told 57P01. */
    stop: () => control('stop', '-m', 'fast'),
    async remove(): Promise<void> {
      if (existsSync(join(data, 'postmaster.pid'))) control('stop', '-m', 'immediate')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function run(command: string[]): void {
  // A server that pg_ctl starts would keep a pipe open.
  const done = Bun.spawnSync(command, { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' })
  if (done.exitCode !== 0) throw new Error(`${command.join(' ')} ended with ${done.exitCode}`)
}
