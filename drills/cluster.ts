/**
 * Three nodes on a PostgreSQL primary with a standby, under load, while what can fail of the
 * database fails: failovers with and without lost commits, silence, clocks.
 */
import { binary } from '../test/support/binary.ts'
import { pgbouncer } from '../test/support/pgbouncer.ts'
import { wrongClocks } from './cluster/clock-scenes.ts'
import { crowded } from './cluster/crowded-scenes.ts'
import { forgettingFailovers, synchronousFailovers } from './cluster/failover-scenes.ts'
import { hasPatroni } from './cluster/patroni.ts'
import { hasPatroniBase } from './cluster/patroni-base.ts'
import { patroniShardsScene, playPatroniShards } from './cluster/patroni-shards-scene.ts'
import { fakeTime } from './cluster/postgres-server.ts'
import { playScene, type Scene, type SceneResult } from './cluster/scene.ts'
import { hasHaproxy } from './cluster/shards.ts'
import { playShards, shardsScene } from './cluster/shards-scene.ts'
import { vanishedPeer } from './cluster/silence-scene.ts'
import { playSlotMove, slotMoveScene } from './cluster/slot-move-scene.ts'
import { clockJumps, troubles } from './cluster/trouble-scenes.ts'
import { headOf, rowOf } from './report.ts'

const everyScene: Scene[] = [
  ...synchronousFailovers,
  ...forgettingFailovers,
  vanishedPeer,
  ...troubles,
  ...crowded,
  ...(fakeTime ? [...wrongClocks, ...clockJumps] : []),
]

type Group = {
  title: string
  command: string
  text: string
  scenes: { name: string; play(): Promise<SceneResult> }[]
  /** Whether the section counts the faults and names what was left out. */
  isCounted?: true
}

const sceneOf = ({ name }: { name: string }, play: () => Promise<SceneResult>, isAble = true) =>
  isAble ? [{ name, play }] : []

const groups: Group[] = [
  {
    title: 'Nodes on a database that fails',
    command: 'cluster',
    scenes: everyScene.map((scene) => ({ name: scene.name, play: () => playScene(scene) })),
    isCounted: true,
    text: `Nodes share one PostgreSQL primary through a TCP proxy; a standby made by
\`pg_basebackup\` follows
it. Twelve clients run models with Idempotency-Keys and ask until they are answered, every probe of
every node is asked twice a second, and every head that a node gives away is kept. Then something
fails. Afterwards the ledger, the log, each acknowledged run and each head are compared with what
the clients hold.`,
  },
  {
    title: 'Two shards behind a balancer',
    command: 'cluster --only shards',
    scenes: sceneOf(shardsScene, playShards, hasHaproxy),
    text: `Two shards, each with a PostgreSQL primary, a signer and two nodes of its own, behind
haproxy with
the configuration of \`packaging/\`. Each account calls through the balancer and calls a node of
the other shard. Twelve clients a shard send each run until it is acknowledged, under an
Idempotency-Key; both nodes of s4 are killed by SIGKILL after a third of the runs and start again
five seconds later. Afterwards every acknowledged run, the accounts, the sums of both ledgers and
both logs are compared. Runs a second measure this machine and not shards: both primaries, all
nodes, the model server and other work share two cores.`,
  },
  {
    title: 'Two shards, one of them on Patroni',
    command: 'cluster --only "on Patroni"',
    scenes: sceneOf(patroniShardsScene, playPatroniShards, hasPatroniBase),
    text: `Two shards of two nodes behind haproxy with the configuration of \`packaging/\`. The
nodes of s3
reach PostgreSQL through PgBouncer in transaction mode and a second haproxy, which asks Patroni for
the primary (\`haproxy-patroni.cfg\`); Patroni has \`synchronous_mode\`, three members of etcd and
a ttl of 20 s. s4 is a primary alone. Eight clients a shard send each run until it is acknowledged,
under an Idempotency-Key. A machine dies by SIGKILL of PostgreSQL, Patroni and its member of etcd at
once; it comes back, \`pg_rewind\` makes it the standby, and then the other one dies. All the time
each node is asked with a key of the other shard.`,
  },
  {
    title: 'A slot that moves under load',
    command: 'cluster --only slot',
    scenes: sceneOf(slotMoveScene, playSlotMove, hasHaproxy),
    text: `The two shards of the section before. Twelve accounts of one slot are asked by eight
clients without
a pause, each run under an Idempotency-Key until it is acknowledged; clients follow 421 and wait as
Retry-After says. \`counterfoil slot move\` takes the slot to the other shard and back, and each
time one of the two nodes that it leaves is killed by SIGKILL as the command starts. A move waits
until the lease of the killed node is over and its runs are ended. A client whose connection
was cut gets 409 until then, because its call is known as begun.`,
  },
]

type Played = Group & { results: SceneResult[] }

/** Plays the scenes whose name contains `only`, one after the other. */
export async function drillCluster(only: string, say: (line: string) => void = () => {}) {
  const played: Played[] = []
  for (const group of groups) {
    const results: SceneResult[] = []
    for (const { play } of group.scenes.filter(({ name }) => name.includes(only))) {
      const result = await play()
      results.push(result)
      const { name, seen, faults } = result
      say(`${name}: ${faults.length === 0 ? 'as expected' : 'FAULTS'}; ${seen}`)
      for (const fault of new Set(faults).values().take(20)) say(`  ${fault}`)
    }
    played.push({ ...group, results })
  }
  const skipped = [
    ...(fakeTime ? [] : ['wrong clocks: apt-get install faketime']),
    ...(pgbouncer ? [] : ['PgBouncer: apt-get install pgbouncer']),
    ...(hasHaproxy ? [] : ['two shards: apt-get install haproxy']),
    ...(hasPatroni ? [] : ['Patroni: apt-get install patroni etcd-server python3-etcd']),
  ]
  const build = Bun.spawnSync([binary, 'version', '--json']).stdout.toString()
  const faults = played.flatMap(({ results }) => results.flatMap((one) => one.faults))
  return { played, faults, skipped, build }
}

type Result = Awaited<ReturnType<typeof drillCluster>>

/** A section for each group of scenes; a group of which none was played leaves its own out. */
export const clusterReport = ({ played, skipped, build }: Result): string =>
  played
    .filter(({ results }) => results.length > 0)
    .map(({ title, command, text, results, isCounted }) => {
      const faults = results.flatMap((one) => one.faults).length
      const left = skipped.map((what) => ` Left out: ${what}.`).join('')
      return `${headOf(title, command, build)}

${text}
${isCounted ? `\n**${faults} faults.**${left}\n` : ''}
| ${isCounted ? 'what fails' : 'scene'} | expected | seen | faults |
|---|---|---|---|
${results.map(toRow).join('\n')}
`
    })
    .join('\n')

const toRow = ({ name, expected, seen, faults }: SceneResult): string =>
  rowOf(name, expected, seen, faults.slice(0, 5).join('; ') || 'none')
