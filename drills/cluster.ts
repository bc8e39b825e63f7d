/**
 * Three nodes on a PostgreSQL primary with a standby, under load, while what can fail of the
 * database fails: failovers with and without lost commits, silence, clocks.
 */
import { binary } from '../test/support/binary.ts'
import { pgbouncer } from '../test/support/pgbouncer.ts'
import { fakeTime, wrongClocks } from './cluster/clock-scenes.ts'
import { forgettingFailovers, synchronousFailovers } from './cluster/failover-scenes.ts'
import { hasPatroni } from './cluster/patroni.ts'
import { playScene, type Scene, type SceneResult } from './cluster/scene.ts'
import { hasHaproxy, playShards, shardsScene } from './cluster/shards-scene.ts'
import { vanishedPeer } from './cluster/silence-scene.ts'
import { stampOf } from './report.ts'

export type ClusterResult = { scenes: SceneResult[]; skipped: string[]; build: string }

const everyScene: Scene[] = [
  ...synchronousFailovers,
  ...forgettingFailovers,
  vanishedPeer,
  ...(fakeTime ? wrongClocks : []),
]

/** Plays the scenes whose name contains `only`, one after the other. */
export async function drillCluster(
  only: string,
  say: (line: string) => void = () => {},
): Promise<ClusterResult> {
  const scenes: SceneResult[] = []
  const tell = (result: SceneResult): void => {
    scenes.push(result)
    const { name, seen, faults } = result
    say(`${name}: ${faults.length === 0 ? 'as expected' : 'FAULTS'}; ${seen}`)
    for (const fault of faults.slice(0, 10)) say(`  ${fault}`)
  }
  for (const scene of everyScene.filter(({ name }) => name.includes(only))) {
    tell(await playScene(scene))
  }
  if (hasHaproxy && shardsScene.name.includes(only)) tell(await playShards())
  const skipped = [
    ...(fakeTime ? [] : ['wrong clocks: apt-get install faketime']),
    ...(pgbouncer ? [] : ['PgBouncer: apt-get install pgbouncer']),
    ...(hasHaproxy ? [] : ['two shards: apt-get install haproxy']),
    ...(hasPatroni ? [] : ['Patroni: apt-get install patroni python3-pysyncobj']),
  ]
  const version = Bun.spawnSync([binary, 'version', '--json']).stdout.toString()
  return { scenes, skipped, build: version }
}

export function clusterReport({ scenes, skipped, build }: ClusterResult): string {
  const faults = scenes.reduce((sum, scene) => sum + scene.faults.length, 0)
  const rows = scenes.map(({ name, expected, seen, faults }) => {
    const found = faults.length === 0 ? 'none' : faults.slice(0, 5).join('; ')
    return `| ${[name, expected, seen, found].map(inCell).join(' | ')} |`
  })
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
${rows.join('\n')}
`
}

const inCell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')
