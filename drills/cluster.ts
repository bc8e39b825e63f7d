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
import { stampOf } from './report.ts'

export type ClusterResult = {
  scenes: SceneResult[]
  /** Of the scene with two shards, if it was played. */
  shards: SceneResult[]
  /** Of the scene with two shards of which one is on Patroni, if it was played. */
  failovers: SceneResult[]
  /** Of the scene in which a slot moves, if it was played. */
  moves: SceneResult[]
  skipped: string[]
  build: string
}

const everyScene: Scene[] = [
  ...synchronousFailovers,
  ...forgettingFailovers,
  vanishedPeer,
  ...troubles,
  ...crowded,
  ...(fakeTime ? [...wrongClocks, ...clockJumps] : []),
]

/** Plays the scenes whose name contains `only`, one after the other. */
export async function drillCluster(
  only: string,
  say: (line: string) => void = () => {},
): Promise<ClusterResult> {
  const scenes: SceneResult[] = []
  const shards: SceneResult[] = []
  const failovers: SceneResult[] = []
  const moves: SceneResult[] = []
  const tell = (result: SceneResult, among = scenes): void => {
    among.push(result)
    const { name, seen, faults } = result
    say(`${name}: ${faults.length === 0 ? 'as expected' : 'FAULTS'}; ${seen}`)
    for (const fault of new Set(faults).values().take(20)) say(`  ${fault}`)
  }
  for (const scene of everyScene.filter(({ name }) => name.includes(only))) {
    tell(await playScene(scene))
  }
  if (hasHaproxy && shardsScene.name.includes(only)) {
    tell(await playShards(), shards)
  }
  if (hasPatroniBase && patroniShardsScene.name.includes(only)) {
    tell(await playPatroniShards(), failovers)
  }
  if (hasHaproxy && slotMoveScene.name.includes(only)) tell(await playSlotMove(), moves)
  const skipped = [
    ...(fakeTime ? [] : ['wrong clocks: apt-get install faketime']),
    ...(pgbouncer ? [] : ['PgBouncer: apt-get install pgbouncer']),
    ...(hasHaproxy ? [] : ['two shards: apt-get install haproxy']),
    ...(hasPatroni ? [] : ['Patroni: apt-get install patroni etcd-server python3-etcd']),
  ]
  const version = Bun.spawnSync([binary, 'version', '--json']).stdout.toString()
  return { scenes, shards, failovers, moves, skipped, build: version }
}

/** A section for the nodes, one for the shards; a scene that was not played leaves its own out. */
export const clusterReport = (result: ClusterResult): string =>
  [
    ...(result.scenes.length > 0 ? [nodesReport(result)] : []),
    ...(result.shards.length > 0 ? [shardsReport(result)] : []),
    ...(result.failovers.length > 0 ? [failoversReport(result)] : []),
    ...(result.moves.length > 0 ? [movesReport(result)] : []),
  ].join('\n')

function nodesReport({ scenes, skipped, build }: ClusterResult): string {
  const faults = scenes.reduce((sum, scene) => sum + scene.faults.length, 0)
  return `## Nodes on a database that fails

\`bun run drill cluster\`, ${stampOf(build)}

Nodes share one PostgreSQL primary through a TCP proxy; a standby made by \`pg_basebackup\` follows
it. Twelve clients run models with Idempotency-Keys and ask until they are answered, every probe of
every node is asked twice a second, and every head that a node gives away is kept. Then something
fails. Afterwards the ledger, the log, each acknowledged run and each head are compared with what
the clients hold.

**${faults} faults.**${skipped.map((what) => ` Left out: ${what}.`).join('')}

| what fails | expected | seen | faults |
|---|---|---|---|
${scenes.map(rowOf).join('\n')}
`
}

const shardsReport = ({ shards, build }: ClusterResult): string => `## Two shards behind a balancer

\`bun run drill cluster --only shards\`, ${stampOf(build)}

Two shards, each with a PostgreSQL primary, a signer and two nodes of its own, behind haproxy with
the configuration of \`packaging/\`. Each account calls through the balancer and calls a node of
the other shard. Twelve clients a shard send each run until it is acknowledged, under an
Idempotency-Key; both nodes of s4 are killed by SIGKILL after a third of the runs and start again
five seconds later. Afterwards every acknowledged run, the accounts, the sums of both ledgers and
both logs are compared. Runs a second measure this machine and not shards: both primaries, all
nodes, the model server and other work share two cores.

| scene | expected | seen | faults |
|---|---|---|---|
${shards.map(rowOf).join('\n')}
`

const failoversReport = ({
  failovers,
  build,
}: ClusterResult): string => `## Two shards, one of them on Patroni

\`bun run drill cluster --only "on Patroni"\`, ${stampOf(build)}

Two shards of two nodes behind haproxy with the configuration of \`packaging/\`. The nodes of s3
reach PostgreSQL through PgBouncer in transaction mode and a second haproxy, which asks Patroni for
the primary (\`haproxy-patroni.cfg\`); Patroni has \`synchronous_mode\`, three members of etcd and
a ttl of 20 s. s4 is a primary alone. Eight clients a shard send each run until it is acknowledged,
under an Idempotency-Key. A machine dies by SIGKILL of PostgreSQL, Patroni and its member of etcd at
once; it comes back, \`pg_rewind\` makes it the standby, and then the other one dies. All the time
each node is asked with a key of the other shard.

| scene | expected | seen | faults |
|---|---|---|---|
${failovers.map(rowOf).join('\n')}
`

const movesReport = ({ moves, build }: ClusterResult): string => `## A slot that moves under load

\`bun run drill cluster --only slot\`, ${stampOf(build)}

The two shards of the section before. Twelve accounts of one slot are asked by eight clients without
a pause, each run under an Idempotency-Key until it is acknowledged; clients follow 421 and wait as
Retry-After says. \`counterfoil slot move\` takes the slot to the other shard and back, and each
time one of the two nodes that it leaves is killed by SIGKILL as the command starts. A move waits
until the lease of the killed node is over and its runs are ended. A client whose connection
was cut gets 409 until then, because its call is known as begun.

| scene | expected | seen | faults |
|---|---|---|---|
${moves.map(rowOf).join('\n')}
`

function rowOf({ name, expected, seen, faults }: SceneResult): string {
  const found = faults.length === 0 ? 'none' : faults.slice(0, 5).join('; ')
  return `| ${[name, expected, seen, found].map(inCell).join(' | ')} |`
}

const inCell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')
