import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { asc } from 'drizzle-orm'
import { operatorTeller } from '../../../src/app/operator-events.ts'
import { makeDeps } from '../../../src/app/wiring.ts'
import { troubleStore } from '../../../src/billing/webhooks/store/troubles.ts'
import { signerFromHex } from '../../../src/proof/signer/signer.ts'
import { nodeLease, takeLease } from '../../../src/storage/db/engine/lease.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { noAnvil } from '../../contracts/anvil.ts'
import { type Anchored, anchoredWorld, worldOn } from '../../proof/anchors/anchored.ts'
import { faults, type RpcProxy, rpcProxy } from '../../proof/chain/proxy.ts'
import { promise } from '../../support/promise.ts'
import { modelToml, until, upstreamToml } from '../../support/runs.ts'
import { type StubUpstream, startStubUpstream } from '../../support/stub-upstream.ts'
import {
  configOf,
  engines,
  sharedEngines,
  testPrivateKey,
  usd,
  type World,
  world,
} from '../../support/world.ts'

setDefaultTimeout(60_000)

const dayMs = 86_400_000
const noon = Date.UTC(2026, 0, 15, 12)

/** The operator's events of one service, oldest first. */
const typesIn = async ({ db }: Pick<World, 'db'>) => {
  const { events } = db.tables
  const all = await db.read((q) => rows(q.select().from(events).orderBy(asc(events.place))))
  return all.filter(({ accountId }) => accountId === '').map(({ type, data }) => ({ type, data }))
}

/** Looks as the job does, four times over minutes: more than one look must not tell more. */
const lookerOf = (w: World) => {
  const look = operatorTeller(w.deps)
  const { node } = w.deps.settings
  return async (): Promise<void> => {
    for (let i = 0; i < 4; i++) {
      await takeLease(w.db, w.deps.leaseClock, nodeLease(node), node)
      await look()
      w.advance(61_000)
    }
  }
}

describe.each(engines)('troubles of a service on %s', (engine) => {
  let stub: StubUpstream
  let w: World
  let look: () => Promise<void>
  let key: string
  let isUp = true
  beforeAll(async () => {
    stub = await startStubUpstream({
      handler(_, response) {
        const usage = { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 }
        const message = { role: 'assistant', content: 'a word' }
        const choices = [{ index: 0, message, finish_reason: 'stop' }]
        response.writeHead(isUp ? 200 : 500, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ id: 'c', object: 'chat.completion', choices, usage }))
      },
    })
    const cost = 'cost = { input_pusd = 9_000_000, output_pusd = 9_000_000 }'
    const breaker = 'breaker_failures = 1\nbreaker_cooldown_ms = 1_000'
    const toml =
      upstreamToml('local', stub.url, breaker) +
      modelToml('local/even', '"local:even"') +
      modelToml('local/dear', `{ to = "local:dear", ${cost} }`)
    w = await world({ engine, toml, now: noon })
    look = lookerOf(w)
    key = (await w.key({ balance: 10n * usd })).secret
  })
  afterAll(async () => {
    await w.stop()
    await stub.stop()
  })
  const run = async (model: string) => {
    const json = { model, input: 'hello', max_output_tokens: 50 }
    return (await w.call('/v1/runs', { key, json })).status
  }

  promise`E21`
  test('An upstream that fails and answers again is told twice, each once, whenever it happens.', async () => {
    const one = [
      { type: 'upstream.opened', data: { upstream: 'local', reason: 'failing' } },
      { type: 'upstream.closed', data: { upstream: 'local', reason: 'failing' } },
    ] as const
    for (const round of [1, 2]) {
      isUp = false
      expect(await run('local/even')).toBeGreaterThanOrEqual(500)
      await look()
      expect(await typesIn(w)).toHaveLength(2 * round - 1)
      isUp = true
      w.advance(2000)
      expect(await run('local/even')).toBe(200)
      await look()
      expect(await typesIn(w)).toEqual(Array.from({ length: round }, () => one).flat())
    }
  })

  promise`E21`
  test('A model that costs more than it brings in is told once a day.', async () => {
    const told = async () => (await typesIn(w)).filter(({ type }) => type === 'margin.negative')
    await look()
    expect(await told()).toEqual([])
    expect(await run('local/dear')).toBe(200)
    await look()
    expect(await run('local/dear')).toBe(200)
    await look()
    const [first] = await told()
    expect(await told()).toHaveLength(1)
    expect(first?.data).toMatchObject({ model: 'local/dear', day: '2026-01-15', runs: 1 })
    expect(Number(first?.data['cost_nusd'])).toBeGreaterThan(Number(first?.data['revenue_nusd']))
    w.advance(dayMs)
    await look()
    expect(await told()).toHaveLength(1)
    expect(await run('local/dear')).toBe(200)
    await look()
    expect((await told()).map(({ data }) => data['day'])).toEqual(['2026-01-15', '2026-01-16'])
  })

  promise`E21`
  test('What only a node saw that is gone is forgotten, and told again when another sees it.', async () => {
    const nodeOf = (name: string) => {
      const { leaseClock: clock } = w.deps
      const health = { ...w.deps.health, ledger: 'balanced' as 'balanced' | 'unbalanced' }
      const troubles = troubleStore(w.db, { clock, node: name })
      const lives = () => takeLease(w.db, clock, nodeLease(name), name)
      return { health, lives, look: operatorTeller({ ...w.deps, health, troubles }) }
    }
    const told = async () => (await typesIn(w)).filter(({ type }) => type === 'ledger.unbalanced')
    const [dying, living] = [nodeOf('node_dying'), nodeOf('node_living')]
    dying.health.ledger = 'unbalanced'
    for (const node of [dying, living]) {
      await node.lives()
      await node.look()
    }
    expect(await told()).toHaveLength(1)
    // Less than a lease lasts: it may only be slow.
    w.advance(5000)
    await living.lives()
    await living.look()
    living.health.ledger = 'unbalanced'
    await living.look()
    living.health.ledger = 'balanced'
    await living.look()
    expect(await told()).toHaveLength(1)
    w.advance(61_000)
    await living.lives()
    await living.look()
    living.health.ledger = 'unbalanced'
    await living.look()
    expect(await told()).toHaveLength(2)
  })
})

describe.each(sharedEngines)('an upstream that only a dead node left alone, on %s', (engine) => {
  test('is told to answer again once that node is known to be dead.', async () => {
    const toml = `${upstreamToml('down', 'http://127.0.0.1:9/v1', 'breaker_failures = 1')}
${modelToml('down/any', '"down:any"')}`
    const w = await world({ engine, toml, now: noon })
    const signer = signerFromHex(testPrivateKey)
    const { clock, log } = w.deps
    const other = await makeDeps({ config: configOf(toml), db: w.db, signer, log, clock })
    const mine = operatorTeller(w.deps)
    const theirs = operatorTeller(other)
    const live = ({ settings: { node } }: Pick<World['deps'], 'settings'>) =>
      takeLease(w.db, w.deps.leaseClock, nodeLease(node), node)
    try {
      const { secret } = await w.key({ balance: usd })
      await Promise.all([live(w.deps), live(other)])
      const json = { model: 'down/any', input: 'hello', max_output_tokens: 50 }
      expect((await w.call('/v1/runs', { key: secret, json })).status).toBeGreaterThanOrEqual(500)
      await mine()
      await theirs()
      expect((await typesIn(w)).map(({ type }) => type)).toEqual(['upstream.opened'])
      // Only the other one lives on.
      for (let i = 0; i < 3; i++) {
        w.advance(61_000)
        await live(other)
        await theirs()
      }
      const types = (await typesIn(w)).map(({ type }) => type)
      expect(types).toEqual(['upstream.opened', 'upstream.closed'])
    } finally {
      await other.sequencer.stop()
      await w.stop()
    }
  })
})

describe.skipIf(noAnvil)('a chain that takes no anchors', () => {
  let a: Anchored
  let proxy: RpcProxy
  let w: Awaited<ReturnType<typeof worldOn>>
  beforeAll(async () => {
    a = await anchoredWorld()
    proxy = rpcProxy(a.chain.url)
    w = await worldOn({ urls: [proxy.url], registry: a.registry.address })
    await w.receipts(2)
    await w.look(4)
  })
  afterAll(async () => {
    await w.stop()
    await proxy.stop()
    await a.stop()
  })

  promise`E21`
  test('is told when a receipt waits twice as long as promised, once for each time.', async () => {
    const look = lookerOf(w)
    await look()
    expect(await typesIn(w)).toEqual([])
    for (const times of [1, 2]) {
      proxy.fault = faults['malformed']
      await w.receipts(1)
      w.advance(1_300_000)
      await w.look()
      await look()
      const told = await typesIn(w)
      expect(told.map(({ type }) => type)).toEqual(Array.from({ length: times }, () => stuck))
      expect(told.at(-1)?.data).toMatchObject({
        anchored_size: expect.any(Number),
        oldest_unanchored_at: expect.any(String),
      })
      proxy.fault = undefined
      await until(
        'the anchor',
        async () => {
          await w.look()
          w.advance(10_000)
          return (await w.status()).anchors.status === 'ok'
        },
        30_000,
      )
      await look()
    }
  })
})

const stuck = 'anchor.stuck'
