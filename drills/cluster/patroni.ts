/** A primary and a synchronous standby under Patroni, which decides itself who is the primary. */
import { chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../test/binary/nodes.ts'
import { until } from '../../test/support/runs.ts'
import { asPostgres, idsOfPostgres, type PgServer, pgServerAt, user } from './postgres-server.ts'

/** Whether Patroni is installed, with the arbiter of its own store. */
export const hasPatroni =
  Bun.which('patroni_raft_controller') !== null &&
  Bun.spawnSync(['/usr/bin/python3', '-c', 'import pysyncobj']).exitCode === 0

export type PatroniPair = {
  primary: PgServer
  standby: PgServer
  /** Waits until Patroni made this member the primary. */
  untilPrimary(server: PgServer): Promise<void>
  remove(): Promise<void>
}

type Member = { name: string; restPort: number; server: PgServer; stop(): Promise<void> }

/** How long an election may take, in ms. */
const electedWithinMs = 60_000

/**
 * Starts two members in `folder`, the second as the first one's synchronous standby. They agree by
 * Raft, with an arbiter as the third: the death of one leaves a majority.
 */
export async function startPatroniPair(programs: string, folder: string): Promise<PatroniPair> {
  const ports = [freePort(), freePort(), freePort()]
  const raftOf = (i: number): Raft => ({
    data_dir: join(folder, `raft-${i}`),
    self_addr: `127.0.0.1:${ports[i]}`,
    partner_addrs: ports.filter((_, other) => other !== i).map((port) => `127.0.0.1:${port}`),
  })
  const arbiter = startArbiter(folder, raftOf(2))
  const members: Member[] = []
  const remove = async () => {
    await Promise.all(members.map((member) => member.stop()))
    arbiter.kill('SIGKILL')
    await arbiter.exited
  }
  try {
    for (const [i, name] of ['first', 'second'].entries()) {
      const member = startMember({ name, programs, folder, raft: raftOf(i) })
      members.push(member)
      // The first one in makes the cluster.
      if (name === 'first') await untilAnswers(member, '/primary')
    }
    const [first, second] = members as [Member, Member]
    await untilAnswers(second, '/synchronous')
    await first.server.makeDatabase()
    return {
      primary: first.server,
      standby: second.server,
      untilPrimary: (server) => untilAnswers(server === first.server ? first : second, '/primary'),
      remove,
    }
  } catch (error) {
    await remove()
    throw error
  }
}

/** What a member says of itself and the others in Patroni's settings. */
type Raft = { data_dir: string; self_addr: string; partner_addrs: string[] }

/** A voter without a database. */
function startArbiter(folder: string, raft: Raft): Bun.Subprocess {
  const file = placeSettings(folder, 'arbiter', { scope: 'drill', name: 'arbiter', raft })
  return spawnLogged(folder, 'arbiter', ['patroni_raft_controller', file])
}

/** JSON is YAML. */
function placeSettings(folder: string, name: string, settings: object): string {
  const file = join(folder, `${name}.yml`)
  writeFileSync(file, JSON.stringify(settings))
  return file
}

function spawnLogged(folder: string, name: string, words: string[]): Bun.Subprocess {
  const log = Bun.file(join(folder, `${name}.log`))
  return Bun.spawn([...asPostgres, ...words], {
    cwd: folder,
    stdin: 'ignore',
    stdout: log,
    stderr: log,
  })
}

type MemberPlace = { name: string; programs: string; folder: string; raft: Raft }

function startMember({ name, programs, folder, raft }: MemberPlace): Member {
  const [port, restPort] = [freePort(), freePort()]
  const data = join(folder, `patroni-${name}`)
  const sockets = join(folder, `sockets-${name}`)
  mkdirSync(sockets)
  const ids = idsOfPostgres()
  if (ids) chownSync(sockets, ...ids)
  const settings = settingsOf({ name, programs, data, sockets, port, restPort, raft })
  const child = spawnLogged(folder, name, ['patroni', placeSettings(folder, name, settings)])
  const server = pgServerAt({
    programs,
    data,
    port,
    async start() {
      throw new Error('Patroni starts its members itself')
    },
    async end() {
      child.kill('SIGKILL')
      await child.exited
      // The server is no child of Patroni's: its own pid file names it.
      const pid = (await Bun.file(join(data, 'postmaster.pid')).text()).split('\n')[0] ?? ''
      Bun.spawnSync(['pkill', '-KILL', '-P', pid])
      Bun.spawnSync(['kill', '-KILL', pid])
    },
  })
  return { name, restPort, server, stop: () => server.kill().catch(() => {}) }
}

type Settings = Omit<MemberPlace, 'folder'> & {
  data: string
  sockets: string
  port: number
  restPort: number
}

const settingsOf = ({ name, programs, data, sockets, port, restPort, raft }: Settings) => ({
  scope: 'drill',
  name,
  restapi: { listen: `127.0.0.1:${restPort}`, connect_address: `127.0.0.1:${restPort}` },
  raft,
  bootstrap: {
    dcs: {
      ttl: 20,
      loop_wait: 2,
      retry_timeout: 5,
      synchronous_mode: true,
      postgresql: { use_pg_rewind: false, parameters: { max_connections: 200 } },
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
    authentication: { superuser: { username: user }, replication: { username: user } },
    parameters: { unix_socket_directories: sockets },
  },
})

const untilAnswers = ({ name, restPort }: Member, path: string) =>
  until(
    `the ${name} member to be ${path.slice(1)}`,
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
