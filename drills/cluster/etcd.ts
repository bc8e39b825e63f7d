/** Three members of etcd, in which Patroni keeps who is the primary. */
import { join } from 'node:path'
import { freePort } from '../../test/support/free-port.ts'
import { asPostgres } from '../../test/support/own-postgres.ts'
import { until } from '../../test/support/runs.ts'

export type EtcdMember = {
  /** Host and port for clients. */
  address: string
  start(): void
  kill(): Promise<void>
}

/** Starts three members with their files in `folder`: the death of one leaves a majority. */
export async function startEtcd(folder: string): Promise<EtcdMember[]> {
  const places = ['one', 'two', 'three'].map((name) => {
    return { name, port: freePort(), peerUrl: `http://127.0.0.1:${freePort()}` }
  })
  const cluster = places.map(({ name, peerUrl }) => `${name}=${peerUrl}`).join(',')
  const members = places.map((place) => etcdMember({ ...place, folder, cluster }))
  for (const member of members) member.start()
  try {
    for (const { address } of members) {
      await until('etcd to be healthy', () => isHealthy(address), 30_000)
    }
    return members
  } catch (error) {
    await Promise.all(members.map((member) => member.kill()))
    throw error
  }
}

type Place = { name: string; port: number; peerUrl: string; folder: string; cluster: string }

function etcdMember({ name, port, peerUrl, folder, cluster }: Place): EtcdMember {
  const url = `http://127.0.0.1:${port}`
  // A machine that others use too is late with a heartbeat sometimes.
  const patience = ['--heartbeat-interval=250', '--election-timeout=2500']
  const command = [
    ...asPostgres,
    'etcd',
    ...['--name', name, '--data-dir', join(folder, `etcd-${name}`)],
    ...['--listen-client-urls', url, '--advertise-client-urls', url],
    ...['--listen-peer-urls', peerUrl, '--initial-advertise-peer-urls', peerUrl],
    ...['--initial-cluster', cluster, '--initial-cluster-state', 'new', ...patience],
  ]
  let child: Bun.Subprocess | undefined
  return {
    address: `127.0.0.1:${port}`,
    start() {
      const log = Bun.file(join(folder, `etcd-${name}.log`))
      child = Bun.spawn(command, { cwd: folder, stdin: 'ignore', stdout: log, stderr: log })
    },
    async kill() {
      child?.kill('SIGKILL')
      await child?.exited
    },
  }
}

async function isHealthy(address: string): Promise<boolean> {
  try {
    const answer = await fetch(`http://${address}/health`)
    return ((await answer.json()) as { health: string }).health === 'true'
  } catch {
    return false
  }
}
