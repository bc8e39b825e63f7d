import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { until } from '../support/runs.ts'
import { isInstalled, startBalancer, startNode } from './balancer.ts'

setDefaultTimeout(60_000)

/** The balancers whose configurations we give away. */
const balancers = [
  ['haproxy', 'packaging/haproxy.cfg'],
  ['nginx', 'packaging/nginx.conf'],
] as const

describe.each(balancers)('%s', (program, path) => {
  const isThere = isInstalled(program)
  const nodes = [startNode('a'), startNode('b')]
  let balancer: Awaited<ReturnType<typeof startBalancer>> | undefined

  beforeAll(async () => {
    if (isThere) balancer = await startBalancer(program, path, nodes)
  })
  afterAll(async () => {
    await balancer?.stop()
    for (const node of nodes) await node.down()
  })

  const ask = async (headers: Record<string, string>, method = 'GET'): Promise<string> =>
    (await balancer?.ask(headers, { method })) ?? ''
  const keys = Array.from({ length: 24 }, (_, i) => `sk-service-${i}`)
  const nodesOf = (headers: (key: string) => Record<string, string>) =>
    Promise.all(keys.map((key) => ask(headers(key))))

  test.skipIf(!isThere)('sends all requests of a key to one node, and keys to both', async () => {
    for (const spelling of ['authorization', 'x-api-key']) {
      const first = await nodesOf((key) => ({ [spelling]: key }))
      expect(await nodesOf((key) => ({ [spelling]: key }))).toEqual(first)
      expect(new Set(first)).toEqual(new Set(['a', 'b']))
    }
    expect(nodes[0]?.seen.at(-1)).toContain('127.0.0.1')
  })

  test.skipIf(!isThere)(
    'sends the keys of a node that is down to the other one, others stay',
    async () => {
      const [a, b] = nodes
      const before = await nodesOf((authorization) => ({ authorization }))
      await b?.down()
      const key = keys[before.indexOf('b')] ?? ''
      await until(
        'its keys to move',
        async () => (await ask({ authorization: key }, 'POST')) === 'a',
        20_000,
      )
      expect(new Set(await nodesOf((authorization) => ({ authorization })))).toEqual(new Set(['a']))
      b?.up()
      const back = async () => (await ask({ authorization: key })) === 'b'
      await until('them to come back', back, 20_000)
      expect(await nodesOf((authorization) => ({ authorization }))).toEqual(before)
      expect(a?.seen.length).toBeGreaterThan(0)
    },
  )
})
