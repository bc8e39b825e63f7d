/** Two shards of two nodes each behind haproxy: many accounts, one shard down, one audit. */

import { startBalancer } from '../../test/packaging/balancer.ts'
import type { Home } from '../../test/support/binary.ts'
import { freePort } from '../../test/support/free-port.ts'
import { until } from '../../test/support/runs.ts'
import type { Claim, SceneResult } from './scene.ts'
import { startShardLoad } from './shard-clients.ts'
import { judgeLogs, judgeRoutes, judgeShard, judgeSums } from './shard-judge.ts'
import { openAccounts, type Shard, startShards, type Undo } from './shards.ts'

const accountCount = 200
const runCount = 10_000
/** How long the second shard is gone, in ms. */
const downMs = 5000

export const shardsScene = {
  name: 'two shards of two nodes behind haproxy',
  expected:
    `${runCount.toLocaleString('en-US')} runs by ${accountCount} accounts, each paid once on its ` +
    'shard; both nodes of one killed under load do not touch the other; one audit of both logs',
}

export async function playShards(): Promise<SceneResult> {
  const faults: string[] = []
  const claim: Claim = (isTrue, fault) => void (isTrue || faults.push(fault))
  const undo: Undo = []
  try {
    return { ...shardsScene, seen: await play(claim, undo), faults }
  } catch (error) {
    return { ...shardsScene, seen: '', faults: [...faults, `the scene broke off: ${error}`] }
  } finally {
    for (const step of undo.reverse()) await step()
  }
}

async function play(claim: Claim, undo: Undo): Promise<string> {
  const port = freePort()
  const url = `http://127.0.0.1:${port}`
  const shards = await startShards(url, undo)
  const nodes = shards.flatMap((shard) => shard.nodes)
  const host = `127.0.0.1:${port}`
  const config = 'packaging/haproxy-shards.cfg'
  const balancer = await startBalancer('haproxy', config, nodes, { port, host })
  undo.push(balancer.stop)
  const askers = await openAccounts(shards, accountCount)
  const [s3, s4] = shards as [Shard, Shard]
  await judgeRoutes(askers, { s3, s4, url }, claim)
  const load = startShardLoad(url, askers, { runs: runCount })
  const startedAt = performance.now()
  await until('a third of the runs', () => load.paid() > runCount / 3, 600_000)
  const downAt = performance.now()
  await Promise.all(s4.nodes.map((node) => node.stop('SIGKILL')))
  await Bun.sleep(downMs)
  const upAt = performance.now()
  s4.nodes = await Promise.all(s4.homes.map((home, i) => home.start({ port: s4.nodes[i]?.port })))
  await load.ended
  const took = (performance.now() - startedAt) / 1000
  const meanwhile = load.asked.filter(({ by, doneAt }) => {
    return by.shard === 's3' && doneAt > downAt && doneAt < upAt
  })
  claim(meanwhile.length > 0, 'the other shard ended no run while one was down')
  const touched = load.asked.filter(({ by, refused }) => by.shard === 's3' && refused.length > 0)
  claim(touched.length === 0, `${touched.length} runs of the other shard were refused`)
  const late = load.asked.filter(({ by, refused }) => by.shard === 's4' && refused.length > 0)
  for (const shard of shards) await judgeShard(shard, load.asked, claim)
  const sums = await judgeSums(shards, { asked: load.asked, accounts: accountCount }, claim)
  const audited = await judgeLogs(s3.homes[0] as Home, claim)
  return [
    `${runCount} runs in ${took.toFixed(1)} s (${Math.round(runCount / took)} a second)`,
    `${meanwhile.length} runs on s3 while s4 was down, ${touched.length} refused; ` +
      `${late.length} of s4 asked again`,
    sums,
    audited,
  ].join('; ')
}
