/** A server without connections to give, and a node that dies with many runs in flight. */

import { until } from '../../test/support/runs.ts'
import { seconds } from '../report.ts'
import { judgeAcknowledged, judgeDatabase } from './judge.ts'
import type { Node } from './nodes.ts'
import type { Scene, Stage } from './scene.ts'

/** How long the connections are taken, in ms. */
const takenMs = 15_000
/** How often /readyz of a node may change meanwhile: once, and back. */
const mostChanges = 2
const longRuns = 90
/** Until a living node takes over what a dead one held, in ms. */
const deadAfterMs = 60_000
/** From the first hold of a dead node that is freed to the last, in ms. */
const freedWithinMs = 5000

/** Takes all connections that the server gives. @returns how many, and how to give them back */
async function takeAll(url: string): Promise<{ taken: number; giveBack(): Promise<void> }> {
  const held: Bun.SQL[] = []
  const giveBack = async () => {
    await Promise.all(held.map((sql) => sql.close()))
  }
  for (;;) {
    const sql = new Bun.SQL({ url, max: 1, connectionTimeout: 5 })
    held.push(sql)
    try {
      await sql`select 1`
    } catch {
      return { taken: held.length - 1, giveBack }
    }
  }
}

const changesOf = ({ probes }: Stage, name: string, since: number): number =>
  probes
    .since(since)
    .filter(({ node, path }) => node === name && path === '/readyz')
    .map(({ status }) => status)
    .filter((status, i, all) => i > 0 && status !== all[i - 1]).length

const noConnections: Scene = {
  name: 'other programs take every connection that the server has left, for 15 s',
  expected: 'nodes go on with those they have, or say so once; no state flaps',
  replication: 'asynchronous',
  async play(stage) {
    const { primary, service, clients, claim } = stage
    const before = clients.wishes.filter(({ paid }) => paid).length
    const { taken, giveBack } = await takeAll(primary.url)
    const since = performance.now()
    await Bun.sleep(takenMs)
    const meanwhile = clients.wishes.filter(({ paid }) => paid).length - before
    await giveBack()
    await until('a node to answer', () => clients.wishes.some(({ paid }) => paid), 30_000)
    const isReady = async ({ server }: Node) => (await server.call('/readyz')).status === 200
    await until(
      'the nodes to be ready',
      async () => (await Promise.all(service.nodes.map(isReady))).every(Boolean),
      30_000,
    )
    const changes = service.nodes.map(({ name }) => changesOf(stage, name, since))
    claim(Math.max(...changes) <= mostChanges, `/readyz changed ${changes.join(', ')} times`)
    await clients.stop({ finishWithinMs: 60_000 })
    await judgeDatabase(primary, claim)
    await judgeAcknowledged(primary, clients.wishes, claim)
    const told = `/readyz changed ${changes.join(', ')} times`
    return `${taken} taken; ${meanwhile} runs paid meanwhile; ${told}`
  },
}

const deadWithRuns: Scene = {
  name: `a node is killed with ${longRuns} runs in flight`,
  expected: 'another node frees all their holds within 5 s of the first, and each run says why',
  replication: 'asynchronous',
  nodes: 2,
  async play({ primary, service, clients, claim }) {
    const [dead, living] = service.nodes as [Node, Node]
    const { secret } = service
    const json = { model: 'stub/endless', input: 'go on', background: true }
    const begin = async (): Promise<string> => {
      const answer = await dead.server.call('/v1/runs', { key: secret, json })
      return (await answer.json()).id
    }
    const ids = await Promise.all(Array.from({ length: longRuns }, begin))
    const listed = ids.map((id) => `'${id}'`).join(', ')
    const count = async (from: string): Promise<number> => {
      const sql = `select count(*) from ${from} and id in (${listed})`
      return Number((await primary.ask<{ count: string }>(sql))[0]?.count)
    }
    const going = `open_runs where status = 'running'`
    await until('the runs to go on', async () => (await count(going)) === longRuns, 20_000)
    await dead.server.stop('SIGKILL')
    const deadAt = performance.now()
    const isOver = `runs where status = 'interrupted'`
    await until('a run to be freed', async () => (await count(isOver)) > 0, deadAfterMs)
    const firstAt = performance.now()
    await until('all to be freed', async () => (await count(isOver)) === longRuns, 40_000)
    const lastAt = performance.now()
    claim(lastAt - firstAt <= freedWithinMs, `the last came ${seconds(lastAt - firstAt)} later`)
    const answer = await living.server.call(`/v1/runs/${ids[0]}`, { key: secret })
    const { error } = await answer.json()
    const message = String(error?.message)
    claim(!message.includes('broke on our side'), `the run says: ${message}`)
    await dead.start()
    await clients.stop({ finishWithinMs: 60_000 })
    await judgeDatabase(primary, claim)
    await judgeAcknowledged(primary, clients.wishes, claim)
    const [held] = await primary.ask<{ held: string }>('select sum(held) as held from accounts')
    claim(Number(held?.held) === 0, `${held?.held} nUSD are still held`)
    return [
      `the first was freed ${seconds(firstAt - deadAt)} after the kill`,
      `the last ${seconds(lastAt - firstAt)} later`,
      `each says: ${message}`,
    ].join('; ')
  },
}

export const crowded: Scene[] = [noConnections, deadWithRuns]
