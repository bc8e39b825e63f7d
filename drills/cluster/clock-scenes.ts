/** The clock of one node is wrong by a known amount, by `faketime`. */
import type { Claim } from '../../test/support/judges.ts'
import { judgeAcknowledged, judgeDatabase } from './judge.ts'
import type { Node } from './nodes.ts'
import { fakeTime } from './postgres-server.ts'
import type { Scene } from './scene.ts'

/** An offset above this is a refusal to serve, in s. */
const refusedAboveS = 30
/** Two of a node's looks at the other nodes' leases, in ms. */
const watchedMs = 22_000

export const wrongClocks: Scene[] = [15, -15, 60, -60].map((offsetS) => ({
  name: `the clock of one node is ${offsetS > 0 ? `${offsetS} s ahead` : `${-offsetS} s behind`}`,
  expected:
    Math.abs(offsetS) > refusedAboveS
      ? 'no run of a neighbour is interrupted; the node refuses to serve and says why'
      : 'no run of a neighbour is interrupted; the node serves and warns',
  replication: 'asynchronous',
  nodes: 2,
  async play({ primary, service, clients, claim }) {
    const [right, wrong] = service.nodes as [Node, Node]
    await wrong.server.stop()
    const fake = {
      LD_PRELOAD: fakeTime ?? '',
      FAKETIME: `${offsetS > 0 ? '+' : ''}${offsetS}s`,
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    }
    const isRefusing = Math.abs(offsetS) > refusedAboveS
    let said = ''
    try {
      await wrong.start({
        ...{ env: fake, probe: '/livez', withinMs: 10_000 },
        // It waits until its clock is right.
        isWaiting: isRefusing,
      })
    } catch (error) {
      // A start may refuse outright, if it says why.
      said = String(error)
      claim(isRefusing && /clock/i.test(said), `the node does not start: ${said.slice(0, 300)}`)
    }
    const long = await right.server.call('/v1/runs', {
      key: service.secret,
      json: { model: 'stub/endless', input: 'go on', background: true },
    })
    const { id } = await long.json()
    await Bun.sleep(watchedMs)
    const show = async () => (await right.server.get(`/v1/runs/${id}`, service.secret)).status
    const status = await show()
    claim(status === 'running', `the neighbour's run is ${status}`)
    if (said === '') said = await judgeWrong(wrong, service.secret, isRefusing, claim)
    await right.server.call(`/v1/runs/${id}/cancel`, { key: service.secret, json: {} })
    await clients.stop({ finishWithinMs: 20_000 })
    const [row] = await primary.ask<{ count: string }>(
      `select count(*) from runs where status = 'interrupted'`,
    )
    claim(Number(row?.count) === 0, `${row?.count} runs were interrupted`)
    await judgeDatabase(primary, claim)
    // The long run, and the one that asked whether the node serves.
    await judgeAcknowledged(primary, clients.wishes, claim, isRefusing ? 1 : 2)
    return `${clients.wishes.length} runs; ${said.trim().split('\n').at(-1)?.slice(0, 200)}`
  },
}))

/** @returns what the node says of itself. */
async function judgeWrong(
  { server }: Node,
  key: string,
  isRefusing: boolean,
  claim: Claim,
): Promise<string> {
  const ready = await server.call('/readyz')
  const text = await ready.text()
  const json = { model: 'stub/pace-5', input: 'a drill' }
  const run = await server.call('/v1/runs', { key, json })
  const told = await server.call('/v1/status')
  const status = await told.json()
  const isTold = isRefusing ? told.status === 503 : status.status === 'degraded'
  claim(isTold, `the node with the wrong clock says ${told.status} ${status.status}`)
  const wanted = isRefusing ? 503 : 200
  claim(ready.status === wanted, `/readyz says ${ready.status}, not ${wanted}`)
  claim(run.status === wanted, `a run is ${run.status}, not ${wanted}`)
  return isRefusing ? text : JSON.stringify(status.database)
}
