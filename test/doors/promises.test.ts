import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { scopes } from '../../src/access/keys/key.ts'
import { setRetention } from '../../src/storage/texts/retain.ts'
import { countAll } from '../billing/usage/receipts.ts'
import { type Door, nameOf, type Pair, pairs, wiredToml } from '../support/doors.ts'
import { promise } from '../support/promise.ts'
import { everythingWritten, expectSettled, lastRun, until } from '../support/runs.ts'
import { type StubUpstream, startStubUpstream, stubWords } from '../support/stub-upstream.ts'
import { engines, testAccount, usd, type World, world } from '../support/world.ts'

const plan = `[[plans]]
id = "free"
limits = { rpm = 10_000, concurrency = 2 }
`

describe.each(engines)('what the old door keeps, on %s', (engine) => {
  let stub: StubUpstream
  let w: World
  let secret: string

  beforeAll(async () => {
    stub = await startStubUpstream()
    w = await world({ engine, toml: plan + wiredToml(stub.url, ['normal', 'stall', 'slow']) })
    secret = (await w.key({ balance: 100n * usd, scopes: [...scopes] })).secret
    await setRetention(w.deps, { account: testAccount, retention: '30d', actor: 'test' })
  }, 60_000)
  afterAll(async () => {
    await expectSettled(w)
    await w.stop()
    await stub.stop()
  })

  type Init = { key?: string; signal?: AbortSignal; headers?: Record<string, string> }
  const ask = (
    { door, wire }: Pick<Pair, 'door' | 'wire'>,
    wish: { text: string; stream?: boolean; name?: string },
    init: Init = {},
  ) => {
    const { name = 'normal', ...rest } = wish
    const json = door.body({ model: `${wire}/${name}`, most: 100, ...rest })
    return w.call(door.path, { key: secret, json, ...init })
  }
  const errorOf = async (door: Door, answer: Response): Promise<unknown[]> => [
    answer.status,
    door.read(await answer.text()).error,
  ]
  const fileOf = async (id: string, key?: string) =>
    (await w.call(`/v1/receipts/${id}`, key ? { key } : {})).json()
  const verify = async (json: unknown) => (await w.call('/v1/receipts/verify', { json })).json()
  const change = async (id: string, verb: string, json: object = {}) =>
    (await w.call(`/v1/receipts/${id}/${verb}`, { key: secret, json })).status

  describe.each(pairs.map((pair) => [nameOf(pair), pair] as const))('%s', (name, pair) => {
    const { door } = pair

    test.each([false, true])(
      'a receipt verifies, is shared with its texts, and loses them when erased; streamed: %p',
      async (stream) => {
        const word = `pomegranate-${name.replaceAll(' ', '-')}-${stream}`
        const heard = door.read(await (await ask(pair, { text: word, stream })).text())
        const id = heard.receipt ?? ''
        expect([heard.text, heard.isWhole]).toEqual([stubWords.join(''), true])
        expect(heard.cost).toBe(Number((await lastRun(w)).cost))
        const own = await fileOf(id, secret)
        expect((await verify(own)).valid).toBe(true)
        expect(JSON.stringify(own.disclosures.input.value)).toContain(word)
        expect(JSON.stringify(own.disclosures.output.value)).toContain(stubWords.join(''))
        const { input, output } = own.disclosures
        const disclosures = { input: { value: input.value }, output: { value: output.value } }
        const wish = { visibility: 'public', reveal: ['input', 'output'], disclosures }
        expect(await change(id, 'share', wish)).toBe(200)
        const shown = await fileOf(id)
        expect(shown.disclosures.input.value).toEqual(input.value)
        expect((await verify(shown)).valid).toBe(true)
        expect(await change(id, 'erase')).toBe(409)
        expect(await change(id, 'share', { visibility: 'private' })).toBe(200)
        expect(await change(id, 'erase')).toBe(200)
        expect(await everythingWritten(w)).not.toContain(word)
        expect((await verify(await fileOf(id, secret))).valid).toBe(true)
      },
    )

    promise`D32`
    test('usage adds its runs up by key, model and tag', async () => {
      const { secret: key, key: row } = await w.key({ scopes: [...scopes] })
      const tag = name.replaceAll(' ', '-')
      const headers = { 'x-counterfoil-tags': `task=${tag}` }
      let cost = 0
      for (const stream of [false, true]) {
        const answer = await ask(pair, { text: 'add', stream }, { key, headers })
        cost += door.read(await answer.text()).cost ?? 0
      }
      await w.deps.sequencer.flush()
      await countAll(w)
      expect(cost).toBeGreaterThan(0)
      const rowsBy = async (group: string) =>
        (await (await w.call(`/v1/usage?group_by=${group}`, { key })).json()).data
      const sums = { runs: 2, succeeded: 2, cost_nusd: cost }
      const model = `${pair.wire}/normal`
      expect(await rowsBy('key')).toMatchObject([{ key_id: row.id, ...sums }])
      expect(await rowsBy('model')).toMatchObject([{ model, ...sums }])
      expect(await rowsBy('tag')).toMatchObject([{ tag: { name: 'task', value: tag }, ...sums }])
    })

    test('the requests a minute of a key hold', async () => {
      const { secret: key } = await w.key({ rpm: 2 })
      const statuses = []
      for (let times = 0; times < 3; times++) {
        statuses.push((await ask(pair, { text: 'x' }, { key })).status)
      }
      expect(statuses).toEqual([200, 200, 429])
      expect(await errorOf(door, await ask(pair, { text: 'x' }, { key }))).toEqual([
        429,
        'rate_limited',
      ])
    })

    promise`D32`
    test('the runs at once of a plan hold, and a client that leaves gives its place back', async () => {
      const gone = new AbortController()
      const stalled = [false, true].map((stream) =>
        ask(pair, { text: 'x', name: 'stall', stream }, { signal: gone.signal }).catch(() => {}),
      )
      await until('both', () => w.deps.live.all().length === 2)
      expect(await errorOf(door, await ask(pair, { text: 'x' }))).toEqual([
        429,
        'concurrency_limited',
      ])
      gone.abort()
      await Promise.all(stalled)
      await until('the end', () => w.deps.live.count() === 0)
      expect((await ask(pair, { text: 'x' })).status).toBe(200)
    })

    test('a server that stops charges what it delivered, and nothing before that', async () => {
      for (const name of ['slow', 'stall']) {
        const before = stub.counts.requests
        const answer = ask(pair, { text: 'x', name, stream: true })
        await until('the server', () => stub.counts.requests > before)
        const [live] = w.deps.live.all()
        if (!live) throw new Error('no run is in flight')
        if (name === 'slow') await new Promise((said) => live.watch(said))
        live.stop('shutdown')
        const { error, isWhole } = door.read(await (await answer).text())
        expect([typeof error, isWhole]).toEqual(['string', false])
        const { outcome, cost } = await lastRun(w)
        const [ended, isPaid] =
          name === 'slow' ? ['partial' as const, true] : ['interrupted' as const, false]
        expect([outcome, cost > 0n]).toEqual([ended, isPaid])
      }
    })
  })
})
