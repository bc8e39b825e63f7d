/** A primary and a synchronous standby under Patroni, which decides itself who is the primary. */
import { chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../test/support/free-port.ts'
import { asPostgres } from '../../test/support/own-postgres.ts'
import { until } from '../../test/support/runs.ts'
import { type EtcdMember, startEtcd } from './etcd.ts'
import { idsOfPostgres, type PgServer, pgServerAt, user } from './postgres-server.ts'

/** Whether Patroni is installed, with etcd and the library by which it asks that. */
export const hasPatroni =
  Bun.which('patroni') !== null &&
  Bun.which('etcd') !== null &&
  Bun.spawnSync(['/usr/bin/python3', '-c', 'import etcd']).exitCode === 0

export type PatroniPair = {
  /** The primary at first, and its synchronous standby. */
  primary: PgServer
  standby: PgServer
  /** Where a balancer asks Patroni of each which of them is the primary. */
  places: { port: number; restPort: number }[]
  /** Waits until Patroni made this member the primary, or the synchronous standby of it. */
  untilPrimary(server: PgServer): Promise<void>
  untilSynchronous(server: PgServer): Promise<void>
  remove(): Promise<void>
}

type Member = { name: string; restPort: number; server: PgServer }

/** `first` and `any` are words of synchronous_standby_names, to which Patroni adds no quotes. */
const names = ['pg1', 'pg2']
/** How long an election, or a server that comes back, may take, in ms. */
const electedWithinMs = 60_000

/**
 * Starts two members in `folder`, the second as the first one's synchronous standby. Each shares a
 * machine with a member of etcd, and dies and comes back together with it; the third is alone.
 */
export async function startPatroniPair(programs: string, folder: string): Promise<PatroniPair> {
  const etcd = await startEtcd(folder)
  const hosts = etcd.map(({ address }) => address)
  const members: Member[] = []
  const remove = async () => {
    await Promise.all(members.map(({ server }) => server.kill().catch(() => {})))
    await Promise.all(etcd.map((one) => one.kill()))
  }
  try {
    for (const [i, name] of names.entries()) {
      const beside = etcd[i] as EtcdMember
      const member = makeMember({ name, programs, folder, hosts, beside })
      members.push(member)
      await member.server.start()
      // The first one in makes the cluster.
      if (i === 0) await untilAnswers(member, '/primary')
    }
    const [first, second] = members as [Member, Member]
    await untilAnswers(second, '/synchronous')
    await first.server.makeDatabase()
    const memberOf = (server: PgServer) => (server === first.server ? first : second)
    return {
      primary: first.server,
      standby: second.server,
      places: members.map(({ server, restPort }) => ({ port: server.port, restPort })),
      untilPrimary: (server) => untilAnswers(memberOf(server), '/primary'),
      untilSynchronous: (server) => untilAnswers(memberOf(server), '/synchronous'),
      remove,
    }
  } catch (error) {
    await remove()
    throw error
  }
}

/** JSON is YAML. */
function placeSettings(folder: string, name: string, settings: object): string {
  const file = join(folder, `${name}.yml`)
  writeFileSync(file, JSON.stringify(settings))
  return file
}

type MemberPlace = {
  name: string
  programs: string
  folder: string
  hosts: string[]
  beside: EtcdMember
}

function makeMember({ name, programs, folder, hosts, beside }: MemberPlace): Member {
  const [port, restPort] = [freePort(), freePort()]
  const data = join(folder, `patroni-${name}`)
  const sockets = join(folder, `sockets-${name}`)
  mkdirSync(sockets)
  const ids = idsOfPostgres()
  if (ids) chownSync(sockets, ...ids)
  const settings = settingsOf({ name, programs, data, sockets, port, restPort, hosts })
  const file = placeSettings(folder, name, settings)
  let child: Bun.Subprocess | undefined
  let isDown = false
  const server = pgServerAt({
    programs,
    data,
    port,
    async start() {
      if (isDown) beside.start()
      isDown = false
      const log = Bun.file(join(folder, `patroni-${name}.log`))
      const output = { stdin: 'ignore', stdout: log, stderr: log } as const
      child = Bun.spawn([...asPostgres, 'patroni', file], { cwd: folder, ...output })
    },
    async end() {
      isDown = true
      child?.kill('SIGKILL')
      await Promise.all([child?.exited, beside.kill()])
      // Patroni starts the server detached from itself: only the pid file names the process.
      const pid = (await Bun.file(join(data, 'postmaster.pid')).text()).split('\n')[0] ?? ''
      Bun.spawnSync(['pkill', '-KILL', '-P', pid])
      Bun.spawnSync(['kill', '-KILL', pid])
    },
  })
  return { name, restPort, server }
}

type Settings = Omit<MemberPlace, 'folder' | 'beside'> & {
  data: string
  sockets: string
  port: number
  restPort: number
}

const settingsOf = ({ name, programs, data, sockets, port, restPort, hosts }: Settings) => ({
  scope: 'drill',
  name,
  restapi: { listen: `127.0.0.1:${restPort}`, connect_address: `127.0.0.1:${restPort}` },
  etcd3: { hosts },
  bootstrap: {
    dcs: {
      ttl: 20,
      loop_wait: 2,
      retry_timeout: 5,
      synchronous_mode: true,
      postgresql: { use_pg_rewind: true, parameters: { max_connections: 200 } },
    },
    initdb: [{ encoding: 'UTF8' }, 'no-locale', 'no-sync', { auth: 'trust' }],
    pg_hba: ['host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust'],
  },
  postgresql: {
    listen: `127.0.0.1:${port}`,
    connect_address: `127.0.0.1:${port}`,
    data_dir: data,
    bin_dir: programs,
    pgpass: join(sockets, 'pgpass'),
    authentication: {
      superuser: { username: user },
      replication: { username: user },
      rewind: { username: user },
    },
    parameters: { unix_socket_directories: sockets },
  },
})

const untilAnswers = ({ name, restPort }: Member, path: string) =>
  until(
    `the member ${name} to be ${path.slice(1)}`,
    () => isOk(`http://127.0.0.1:${restPort}${path}`),
    electedWithinMs,
  ).then(() => {})

async function isOk(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok
  } catch {
    return false
  }
}
