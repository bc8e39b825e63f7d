/** The database's machine vanishes: packets are dropped, no connection breaks. */

import { until } from '../../test/support/runs.ts'
import { seconds } from '../report.ts'
import { judgeAcknowledged, judgeDatabase } from './judge.ts'
import { graceS, type Node } from './nodes.ts'
import type { Scene } from './scene.ts'

const silentMs = 30_000
/** How long the first refusal may take from the beginning of the silence, in ms. */
const refusedWithinMs = 12_000
/** How long any probe may take, in ms. */
const probeWithinMs = 2000
/** What a stop may take beyond its grace, in ms. */
const stopSlackMs = 5000

export const vanishedPeer: Scene = {
  name: 'the database vanishes without closing a connection, and comes back',
  expected:
    'first 503 within 12 s, probes within 2 s, SIGTERM within its grace and 5 s, recovery by ' +
    'itself',
  replication: 'asynchronous',
  async play({ primary, proxy, service, clients, probes, claim }) {
    const [stopped, ...staying] = service.nodes as [Node, ...Node[]]
    proxy.vanish()
    const silentAt = performance.now()
    await Bun.sleep(silentMs - 12_000)
    const stoppedAt = performance.now()
    const ended = await Promise.race([stopped.server.stop(), Bun.sleep(30_000)])
    if (ended !== 0) await stopped.server.stop('SIGKILL')
    const stopMs = performance.now() - stoppedAt
    claim(ended === 0, `SIGTERM ended with ${ended}`)
    claim(stopMs <= graceS * 1000 + stopSlackMs, `SIGTERM took ${seconds(stopMs)}`)
    await Bun.sleep(Math.max(0, silentAt + silentMs - performance.now()))
    proxy.comeBack()
    const spokeAt = performance.now()
    const isServed = (name: string) =>
      probes
        .since(spokeAt)
        .some(({ node, path, status }) => node === name && path === '/readyz' && status === 200)
    await until('the nodes to recover', () => staying.every(({ name }) => isServed(name)), 30_000)
    const recoveredAt = performance.now()
    await stopped.start()
    await Bun.sleep(2000)
    await clients.stop({ finishWithinMs: 30_000 })
    await probes.stop()

    const first = clients.refused.find(({ at, status }) => at > silentAt && status === 503)
    const firstMs = (first?.at ?? Number.POSITIVE_INFINITY) - silentAt
    claim(firstMs <= refusedWithinMs, `the first 503 came after ${seconds(firstMs)}`)
    const errors = clients.refused.filter(({ at, status }) => at > silentAt && status === 500)
    claim(errors.length === 0, `${errors.length} answers were 500: ${errors[0]?.reason}`)
    const during = probes.seen.filter(({ at }) => at > silentAt && at < spokeAt)
    // The node that was stopped answers none.
    const asked = during.filter(({ node, at }) => node !== stopped.name || at < stoppedAt)
    const slow = asked.filter(({ tookMs }) => tookMs > probeWithinMs)
    const slowest = Math.max(...asked.map(({ tookMs }) => tookMs))
    claim(
      slow.length === 0,
      `${slow.length} probes took up to ${seconds(slowest)}: ${slow[0]?.path}`,
    )
    const dead = asked.filter(({ path, status }) => path === '/livez' && status !== 200)
    claim(dead.length === 0, `/livez said ${dead[0]?.status} during the silence`)
    await judgeDatabase(primary, claim)
    await judgeAcknowledged(primary, clients.wishes, claim)
    return [
      `first 503 after ${seconds(firstMs)}`,
      `slowest of ${asked.length} probes ${seconds(slowest)}`,
      `SIGTERM took ${seconds(stopMs)} with a grace of ${graceS} s`,
      `ready ${seconds(recoveredAt - spokeAt)} after the database was back`,
    ].join('; ')
  },
}
