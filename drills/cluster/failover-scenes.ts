/** The primary dies and its standby takes over: with all its commits, or without the last ones. */

import { rm } from 'node:fs/promises'
import { pgbouncer } from '../../test/support/pgbouncer.ts'
import { until } from '../../test/support/runs.ts'
import { targetOf } from '../../test/support/silent-proxy.ts'
import { seconds } from '../report.ts'
import { rootsOf } from './heads.ts'
import { askDoctor, judgeAcknowledged, judgeDatabase, judgeHeads, judgeReceipts } from './judge.ts'
import type { Node } from './nodes.ts'
import { hasPatroni } from './patroni.ts'
import { type PgServer, stopFollowing, untilCaughtUp } from './postgres-server.ts'
import { sayDiverged } from './probes.ts'
import type { Scene, Stage } from './scene.ts'

/** How long nodes may take to say that the database lost commits, in ms. */
const noticedWithinMs = 10_000
/** How long clients run while the standby lacks what the primary commits, in ms. */
const unfollowedMs = 3000

type Failover = Pick<Scene, 'name' | 'replication' | 'isPooled'>

const failovers: Failover[] = [
  { name: 'its synchronous standby is promoted', replication: 'synchronous' },
  ...(pgbouncer
    ? [
        {
          name: 'its synchronous standby is promoted, nodes use PgBouncer in transaction mode',
          replication: 'synchronous' as const,
          isPooled: true,
        },
      ]
    : []),
  ...(hasPatroni
    ? [{ name: 'Patroni promotes its synchronous standby', replication: 'patroni' as const }]
    : []),
]

/** Failovers that lose nothing. */
export const synchronousFailovers: Scene[] = failovers.map(({ name, ...rest }) => ({
  name: `the primary is killed, ${name}`,
  expected: 'no acknowledged run lost or doubled, every head consistent, recovery by itself',
  ...rest,
  async play({ primary, standby, takeOver, proxy, service, clients, heads, claim }) {
    const [first] = service.nodes as [Node]
    const replicas = await askDoctor(first, 'replicas')
    claim(replicas?.status === 'ok', `doctor says of the replicas: ${replicas?.message}`)
    const acknowledged = () => clients.wishes.filter(({ paid }) => paid).length
    await primary.kill()
    const killedAt = performance.now()
    const before = acknowledged()
    await takeOver()
    proxy.moveTo(targetOf(standby.url))
    await until('a run after the failover', () => acknowledged() > before, 30_000)
    const backAfter = performance.now() - killedAt
    await Bun.sleep(3000)
    await clients.stop({ finishWithinMs: 30_000 })
    await heads.stop()
    await judgeDatabase(standby, claim)
    await judgeAcknowledged(standby, clients.wishes, claim)
    judgeHeads(await rootsOf(standby), heads.seen, claim)
    const { secret } = service
    const { proven } = await judgeReceipts(first, { secret, wishes: clients.wishes }, claim)
    return [
      `${acknowledged()} runs acknowledged, ${before} of them before`,
      `the next one ${seconds(backAfter)} after the kill`,
      `${heads.seen.length} heads, ${proven} receipts proven`,
    ].join('; ')
  },
}))

type Aftermath = {
  name: string
  /** Does something to the nodes after the failover; then each must say that the log diverged. */
  strike(stage: Stage): Promise<void>
}

const aftermaths: Aftermath[] = [
  { name: 'nodes go on', strike: async () => {} },
  {
    name: 'every node is killed and starts again',
    async strike({ service }) {
      await restartAll(service.nodes)
    },
  },
  {
    name: 'every node is killed and starts again, one without its data folder',
    async strike({ service }) {
      const [first] = service.nodes as [Node]
      await restartAll(service.nodes, () => rm(first.home.data, { recursive: true, force: true }))
    },
  },
]

export const forgettingFailovers: Scene[] = aftermaths.map(({ name, strike }) => ({
  name: `an asynchronous standby without the last commits takes over; ${name}`,
  expected:
    'every node says diverged within 10 s; no contradicting head is signed; after `log reopen` ' +
    'each receipt that is still stored is proven',
  replication: 'asynchronous',
  async play(stage) {
    const { primary, standby, takeOver, proxy, service, clients, probes, heads, claim } = stage
    const [first] = service.nodes as [Node]
    const replicas = await askDoctor(first, 'replicas')
    claim(replicas?.status === 'warn', `doctor says of the replicas: ${replicas?.message}`)
    await untilCaughtUp(primary, standby)
    await stopFollowing(standby)
    await Bun.sleep(unfollowedMs)
    await primary.kill()
    const lastOf = performance.now()
    const killedAt = Date.now()
    await takeOver()
    const stored = await leafCount(standby)
    proxy.moveTo(targetOf(standby.url))
    const switchedAt = performance.now()
    await strike(stage)
    const struckAt = performance.now()
    const noticed = await untilAllSayDiverged(stage, struckAt)
    claim(noticed !== undefined, `not every node says diverged: ${silentOnes(stage, struckAt)}`)
    const found = await askDoctor(first, 'log')
    claim(found?.status === 'fail', `doctor says of the log: ${found?.message}`)
    // Clients go on asking for a while: nothing may be begun, numbered or signed.
    await Bun.sleep(3000)
    await clients.stop()
    await heads.stop()
    await probes.stop()
    const after = await leafCount(standby)
    claim(after === stored, `${after - stored} leaves were added to a log that had lost some`)
    // A run that was open in what the standby has may end there; none may begin.
    const begun = await begunSince(standby, killedAt)
    claim(begun.length === 0, `runs began after the failover: ${begun.join(', ')}`)
    const late = clients.wishes.filter(({ paid }) => paid && paid.at > switchedAt)
    await primary.start()
    const lostBranch = await rootsOf(primary)
    judgeHeads(lostBranch, heads.seen, claim, 'the log before the failover')
    const { reopened, proven, lost } = await reopen(stage)
    const signedBefore = heads.seen.filter(({ at }) => at < lastOf).length
    return [
      `${lostBranch.length - stored} of ${lostBranch.length} leaves lost`,
      `noticed by all after ${noticed === undefined ? 'never' : seconds(noticed - struckAt)}`,
      `${signedBefore} heads before the failover, ${heads.seen.length - signedBefore} after`,
      `${late.length} runs that were open ended after it`,
      `\`log reopen\` said: ${reopened}`,
      `${proven} receipts proven, ${lost.length} lost`,
    ].join('; ')
  },
}))

/** Stops all nodes, opens the next log, starts them again and proves what is stored. */
async function reopen({ service, clients, standby, claim }: Stage) {
  const { nodes, secret } = service
  await Promise.all(nodes.map(({ server }) => server.stop()))
  const [node] = nodes as [Node]
  // Nodes that were killed count as alive until their leases end.
  const done = await until(
    'the leases of dead nodes to end',
    async () => {
      const tried = await node.home.cli('log', 'reopen', '--reason', 'the database lost commits')
      return /runs on this database/.test(tried.stderr) ? undefined : tried
    },
    15_000,
  )
  claim(done.code === 0, `log reopen ended with ${done.code}: ${done.stderr}`)
  for (const each of nodes) await each.start()
  const found = await judgeReceipts(node, { secret, wishes: clients.wishes }, claim, {
    mayBeLost: true,
  })
  for (const { name, server } of nodes) {
    const json = { model: 'stub/pace-5', input: 'a drill' }
    const { status } = await server.call('/v1/runs', { key: secret, json })
    claim(status === 200, `${name} answers a run after log reopen with ${status}`)
  }
  await judgeDatabase(standby, claim)
  const reopened = done.stderr.trim().split('\n').slice(2).join(' ')
  return { ...found, reopened }
}

async function restartAll(nodes: Node[], between: () => Promise<unknown> = async () => {}) {
  await Promise.all(nodes.map(({ server }) => server.stop('SIGKILL')))
  await between()
  await Promise.all(nodes.map((node) => node.start({ probe: '/livez' })))
}

/** When the last node said so in every probe; undefined when one did not in time. */
async function untilAllSayDiverged(stage: Stage, since: number): Promise<number | undefined> {
  while (performance.now() < since + noticedWithinMs + 1000) {
    if (silentOnes(stage, since).length === 0) return performance.now()
    await Bun.sleep(100)
  }
  return undefined
}

const silentOnes = ({ service, probes }: Stage, since: number): string[] =>
  service.nodes
    .map(({ name }) => name)
    .filter((name) => !sayDiverged(probes.since(since).filter(({ node }) => node === name)))

/** The runs of a database that began after a moment of the wall clock, in ms. */
const begunSince = async (server: PgServer, at: number): Promise<string[]> =>
  (await server.ask<{ id: string }>(`select id from runs where created_at > ${at}`)).map(
    ({ id }) => id,
  )

const leafCount = async (server: PgServer): Promise<number> =>
  Number((await server.ask<{ count: string }>('select count(*) from log_leaves'))[0]?.count)
