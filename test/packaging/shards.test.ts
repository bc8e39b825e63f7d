import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { newToken } from '../../src/access/accounts/session.ts'
import { makeSecret, secretPrefix } from '../../src/access/keys/secret.ts'
import { makeIds } from '../../src/kernel/ids.ts'
import { systemRandom } from '../../src/kernel/random.ts'
import { markOf } from '../../src/kernel/shard.ts'
import { promise } from '../support/promise.ts'
import { until } from '../support/runs.ts'
import { isInstalled, startBalancer, startNode } from './balancer.ts'

setDefaultTimeout(60_000)

const balancers = [
  ['haproxy', 'packaging/haproxy-shards.cfg'],
  ['nginx', 'packaging/nginx-shards.conf'],
] as const

const random = systemRandom()
const keyOf = (slot: number) => makeSecret(random, secretPrefix, markOf(slot))
const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
const idOf = (shard: string) => makeIds({ now: () => Date.now() }, random, shard).make('rcpt')
const slots = Array.from({ length: 128 }, (_, i) => i * 8)
const shardsOf = slots.map((slot) => (slot < 512 ? 's3' : 's4'))

describe.each(balancers)('%s before two shards', (program, path) => {
  const isThere = isInstalled(program)
  const nodes = ['s3 a', 's3 b', 's4 c', 's4 d'].map(startNode)
  let balancer: Awaited<ReturnType<typeof startBalancer>>

  beforeAll(async () => {
    if (isThere) balancer = await startBalancer(program, path, nodes)
  })
  afterAll(async () => {
    if (isThere) await balancer.stop()
    for (const node of nodes) await node.down()
  })
  const shardOf = async (...asked: Parameters<typeof balancer.ask>) =>
    (await balancer.ask(...asked)).slice(0, 2)

  test.skipIf(!isThere)(
    'sends keys by the slot that they begin with, to one node each',
    async () => {
      const keys = slots.map(keyOf)
      const first = await Promise.all(keys.map((key) => balancer.ask(bearer(key))))
      expect(first.map((name) => name.slice(0, 2))).toEqual(shardsOf)
      expect(await Promise.all(keys.map((key) => balancer.ask(bearer(key))))).toEqual(first)
      expect(new Set(first).size).toBe(4)
      const odd = { authorization: `bearer ${keyOf(1023)}` }
      expect(await shardOf(odd, { method: 'POST' })).toBe('s4')
    },
  )

  test.skipIf(!isThere)(
    'sends sessions by their slot, under both names of the cookie',
    async () => {
      for (const name of ['sid', '__Host-sid']) {
        const found = slots.map((slot) =>
          shardOf({ cookie: `theme=dark; ${name}=${newToken(random, markOf(slot))}` }),
        )
        expect(await Promise.all(found)).toEqual(shardsOf)
      }
    },
  )

  test.skipIf(!isThere)(
    'sends what has neither by the id in its path, else to one shard',
    async () => {
      for (const shard of ['s3', 's4']) {
        const paths = ['', '/proof', '?size=3'].map((end) => `/v1/receipts/${idOf(shard)}${end}`)
        const found = paths.map((path) => shardOf({}, { path }))
        expect(await Promise.all(found)).toEqual([shard, shard, shard])
      }
      expect(await shardOf({}, { path: '/log/s4/checkpoint' })).toBe('s4')
      expect(await shardOf({}, { path: '/log/2/checkpoint' })).toBe('s3')
      const none = ['/', '/v1/status', `/v1/receipts/${idOf('s9')}`, '/v1/receipts/rcpt_s4']
      const found = none.map((path) => shardOf({}, { path }))
      expect(await Promise.all(found)).toEqual(['s3', 's3', 's3', 's3'])
    },
  )

  test.skipIf(!isThere)('sends the tokens of operators by their shard', async () => {
    for (const shard of ['s3', 's4']) {
      expect(await shardOf(bearer(makeSecret(random, 'op-service-', shard)))).toBe(shard)
    }
  })

  test.skipIf(!isThere)('goes by the key before the id, and by the header before all', async () => {
    const path = `/v1/receipts/${idOf('s3')}`
    expect(await shardOf(bearer(keyOf(900)), { path })).toBe('s4')
    const hint = { ...bearer(keyOf(900)), 'x-counterfoil-shard': 's3' }
    expect(await shardOf(hint, { path: '/v1/runs' })).toBe('s3')
    expect(await shardOf({ 'x-counterfoil-shard': 's4' })).toBe('s4')
  })

  promise`Q2`
  test.skipIf(!isThere)(
    'never sends a request of a shard that is down to another one',
    async () => {
      const keys = { s3: keyOf(3), s4: keyOf(1000) }
      const [, , c, d] = nodes
      await c?.down()
      await until(
        'one node to answer',
        async () => (await balancer.ask(bearer(keys.s4))) === 's4 d',
      )
      await d?.down()
      const gone = async () => (await balancer.ask(bearer(keys.s4))) === ''
      await until('no node to answer', gone, 20_000)
      expect(await shardOf(bearer(keys.s3))).toBe('s3')
      c?.up()
      d?.up()
      await until('it to come back', async () => (await shardOf(bearer(keys.s4))) === 's4', 30_000)
    },
  )
})
