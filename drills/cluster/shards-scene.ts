/** Two shards of two nodes each behind haproxy: many accounts, one shard down, one audit. */

import type { Home } from '../../test/support/binary.ts'
import type { Claim } from '../../test/support/judges.ts'
import { until } from '../../test/support/runs.ts'
import { startClients } from './clients.ts'
import { playPart, type SceneResult, type Undo } from './scene.ts'
import { judgeLogs, judgeRoutes, judgeShard, judgeSums } from './shard-judge.ts'
import { openAccounts, startBalanced, toBoth } from './shards.ts'

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

export const playShards = (): Promise<SceneResult> => playPart(shardsScene, play)

async function play(claim: Claim, undo: Undo): Promise<string> {
  const { url, shards, s3, s4 } = await startBalanced(undo)
  const askers = await openAccounts(shards, accountCount)
  await judgeRoutes(askers, { s3, s4, url }, claim)
  const load = startClients({ ...toBoth(url, askers), runs: runCount / 2 })
  const startedAt = performance.now()
  await until('a third of the runs', () => load.paid() > runCount / 3, 600_000)
  const downAt = performance.now()
  await Promise.all(s4.nodes.map((node) => node.stop('SIGKILL')))
  await Bun.sleep(downMs)
  const upAt = performance.now()
  s4.nodes = await Promise.all(s4.homes.map((home, i) => home.start({ port: s4.nodes[i]?.port })))
  await load.ended
  const took = (performance.now() - startedAt) / 1000
  const meanwhile = load.wishes.filter(({ by, doneAt }) => {
    return by.shard === 's3' && doneAt > downAt && doneAt < upAt
  })
  claim(meanwhile.length > 0, 'the other shard ended no run while one was down')
  const touched = load.wishes.filter(({ by, refused }) => by.shard === 's3' && refused.length > 0)
  claim(touched.length === 0, `${touched.length} runs of the other shard were refused`)
  const late = load.wishes.filter(({ by, refused }) => by.shard === 's4' && refused.length > 0)
  for (const shard of shards) await judgeShard(shard, load.wishes, claim)
  const sums = await judgeSums(shards, { asked: load.wishes, accounts: accountCount }, claim)
  const audited = await judgeLogs(s3.homes[0] as Home, claim)
  return [
    `${runCount} runs in ${took.toFixed(1)} s (${Math.round(runCount / took)} a second)`,
    `${meanwhile.length} runs on s3 while s4 was down, ${touched.length} refused; ` +
      `${late.length} of s4 asked again`,
    sums,
    audited,
  ].join('; ')
}
