import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import {
  doors,
  nameOf,
  type Pair,
  pairs,
  runsBefore,
  runsDoor,
  wiredToml,
} from '../../support/doors.ts'
import { promise } from '../../support/promise.ts'
import {
  allRuns,
  expectSettled,
  modelsToml,
  moneyOf,
  pricedBuiltins,
  until,
} from '../../support/runs.ts'
import { type StubUpstream, startStubUpstream } from '../../support/stub-upstream.ts'
import { engines, usd, type World, world } from '../../support/world.ts'

setDefaultTimeout(60_000)

const echo = 'counterfoil/echo-1'
const day = 86_400_000
const noon = Date.UTC(2026, 6, 15, 12)
const names = ['normal', 'slow', 'cut-2', 'stall', 'status-500', 'text']

const before = [runsBefore, ...pairs].map((pair): [string, Pair] => [nameOf(pair), pair])
const failing = ['status-500', 'text'].flatMap((name) =>
  pairs.map((pair): [string, string, Pair] => [name, nameOf(pair), pair]),
)
describe.each(engines)('Idempotency-Key, on %s', (engine) => {
  let w: World
  let stub: StubUpstream
  let secret: string
  beforeAll(async () => {
    stub = await startStubUpstream()
    const toml = pricedBuiltins + modelsToml(stub.url, names) + wiredToml(stub.url, names)
    w = await world({ engine, toml, now: noon })
    secret = (await w.key({ balance: 100n * usd })).secret
  }, 60_000)
  afterAll(async () => {
    await expectSettled(w)
    await w.stop()
    await stub.stop()
  })

  let count = 0
  const fresh = () => `call ${++count}`
  const post = (path: string, call: string, json: object, key = secret) =>
    w.call(path, { key, json, headers: { 'idempotency-key': call } })
  const chat = (call: string, more: object = {}) =>
    post('/v1/chat/completions', call, {
      model: echo,
      messages: [{ role: 'user', content: 'say it again' }],
      ...more,
    })
  const kept = () => w.db.read((q) => rows(q.select().from(w.db.tables.idempotentCalls)))
  const inTable = async () => (await kept()).length
  const spent = async () => 100_000_000_000 - (await moneyOf(w, secret)).balance_nusd

  describe('the same call again', () => {
    const asks: [string, string, object][] = [
      ['chat', '/v1/chat/completions', { messages: [{ role: 'user', content: 'two words' }] }],
      ['a run', '/v1/runs', { input: 'two words' }],
      ['embeddings', '/v1/embeddings', { input: 'two words', model: 'counterfoil/embed-1' }],
      ['a streamed chat', '/v1/chat/completions', streamed({ include_usage: true })],
      ['a streamed chat without usage', '/v1/chat/completions', streamed()],
      ['a streamed run', '/v1/runs', { input: 'two words', stream: true }],
      ...pairs.flatMap((pair) =>
        [false, true].map((stream): [string, string, object] => [
          `${nameOf(pair)}${stream ? ', streamed,' : ''}`,
          pair.door.path,
          pair.door.body({ model: `${pair.wire}/normal`, text: 'two words', stream }),
        ]),
      ),
    ]
    test.each(asks)(
      '%s is answered as it was, byte by byte, and paid once',
      async (_, path, ask) => {
        const call = fresh()
        const runs = (await allRuns(w)).length
        const first = await post(path, call, { model: echo, ...ask })
        const text = await first.text()
        expect(first.status).toBe(200)
        expect(first.headers.has('idempotent-replayed')).toBe(false)
        const paid = await spent()
        for (let again = 0; again < 2; again++) {
          const second = await post(path, call, { model: echo, ...ask })
          expect(await second.text()).toBe(text)
          expect(second.status).toBe(200)
          expect(second.headers.get('idempotent-replayed')).toBe('true')
          for (const name of ['content-type', 'x-receipt-id', 'x-cost-nusd']) {
            expect([name, second.headers.get(name)]).toEqual([name, first.headers.get(name)])
          }
          expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'))
          expect(second.headers.has('ratelimit')).toBe(true)
        }
        expect(await spent()).toBe(paid)
        expect((await allRuns(w)).length).toBe(runs + 1)
      },
    )

    const ended = (id: string) =>
      until('its end', async () => {
        const run = await w.deps.runs.find(id)
        return run?.finishedAt === null ? undefined : run
      })

    test('a background run is the same run, while it goes on and afterwards', async () => {
      const call = fresh()
      const ask = { model: 'stub/slow', input: 'go', background: true }
      const first = await post('/v1/runs', call, ask)
      expect(first.status).toBe(202)
      const run = await first.json()
      await new Promise((said) => w.deps.live.find(run.id)?.watch(said))
      const second = await post('/v1/runs', call, ask)
      expect([second.status, await second.json()]).toEqual([202, run])
      await w.call(`/v1/runs/${run.id}/cancel`, { key: secret, method: 'POST' })
      expect((await ended(run.id)).cost).toBeGreaterThan(0n)
      const third = await post('/v1/runs', call, ask)
      expect([third.status, await third.json()]).toEqual([202, run])
    })

    test('a background run that failed and charged nothing is begun again', async () => {
      const call = fresh()
      const ask = { model: 'stub/status-500', input: 'go', background: true }
      const first = await (await post('/v1/runs', call, ask)).json()
      await ended(first.id)
      const second = await (await post('/v1/runs', call, ask)).json()
      expect(second.id).not.toBe(first.id)
      await ended(second.id)
    })

    promise`D19`
    test('of another route, or by another key, is another call', async () => {
      const call = fresh()
      const ask = { model: echo, input: 'hi' }
      const other = (await w.key()).secret
      const ids = new Set<string>()
      for (const answer of [
        await post('/v1/runs', call, ask),
        await post('/v1/runs', call, ask, other),
        await chat(call),
      ]) {
        expect(answer.status).toBe(200)
        expect(answer.headers.has('idempotent-replayed')).toBe(false)
        ids.add((await answer.json()).id)
      }
      expect(ids.size).toBe(3)
    })

    test('is a call again after 24 hours, and a job forgets the answer then', async () => {
      const call = fresh()
      const first = await (await chat(call)).json()
      w.advance(day - 1)
      await w.deps.calls.dropPast(w.deps.clock.now())
      expect((await (await chat(call)).json()).id).toBe(first.id)
      w.advance(1)
      // Also before the job came to it.
      const second = await (await chat(call)).json()
      expect(second.id).not.toBe(first.id)
      expect((await (await chat(call)).json()).id).toBe(second.id)
      w.advance(day)
      await w.deps.calls.dropPast(w.deps.clock.now())
      expect(await inTable()).toBe(0)
    })
  })

  describe('what is refused', () => {
    promise`D19`
    test('another body under the same key is 422, and nothing is run', async () => {
      const call = fresh()
      await chat(call)
      const runs = (await allRuns(w)).length
      const answer = await chat(call, { max_tokens: 3 })
      expect(answer.status).toBe(422)
      expect((await answer.json()).error.type).toBe('idempotency_mismatch')
      expect((await allRuns(w)).length).toBe(runs)
    })

    test.each(before)(
      '%s: a call that is still running is 409 and says when to come again',
      async (_, pair) => {
        const call = fresh()
        const { door, wire } = pair
        const json = door.body({ model: `${wire}/slow`, text: 'go', stream: true })
        const hangUp = new AbortController()
        const headers = { 'idempotency-key': call }
        await w.call(door.path, { key: secret, json, headers, signal: hangUp.signal })
        const answer = await post(door.path, call, json)
        expect(answer.status).toBe(409)
        expect(answer.headers.get('retry-after')).toBe('1')
        expect(door.read(await answer.text()).error).toBe('idempotency_in_progress')
        hangUp.abort()
        await until('the end', () => w.deps.live.count() === 0)
      },
    )

    test.each(['', 'x'.repeat(129), 'caf\u00e9'])(
      'a key %p is 400 and names the header',
      async (key) => {
        const answer = await chat(key)
        expect(answer.status).toBe(400)
        expect((await answer.json()).error.param).toBe('Idempotency-Key')
      },
    )
  })

  describe('what frees the key again', () => {
    test('a refusal before the hold', async () => {
      const call = fresh()
      const rows = await inTable()
      expect((await chat(call, { max_tokens: 0 })).status).toBe(400)
      const poor = (await w.key({ capLimit: 1n })).secret
      const ask = { model: echo, input: 'hi' }
      expect((await post('/v1/runs', call, ask, poor)).status).toBe(402)
      expect(await inTable()).toBe(rows)
      expect((await chat(call)).status).toBe(200)
    })

    test.each(failing)('an upstream that fails: %s, %s', async (name, _, { door, wire }) => {
      const call = fresh()
      for (const stream of [false, true]) {
        const before = stub.counts.requests
        const ask = door.body({ model: `${wire}/${name}`, text: 'x', stream })
        for (let again = 1; again <= 2; again++) {
          const answer = await post(door.path, `${call} ${stream}`, ask)
          expect(answer.status).toBe(502)
          expect(answer.headers.has('idempotent-replayed')).toBe(false)
          expect(stub.counts.requests).toBe(before + again)
        }
      }
      expect((await kept()).filter(({ reply }) => reply === null)).toEqual([])
    })
  })

  test.each(before)(
    '%s: a stream that broke off but was charged is told again, with its error, and not run again',
    async (_, { door, wire }) => {
      const call = fresh()
      const ask = door.body({ model: `${wire}/cut-2`, text: 'x', stream: true })
      const first = await (await post(door.path, call, ask)).text()
      expect(door.read(first).error).toBe('upstream_error')
      const before = stub.counts.requests
      const second = await post(door.path, call, ask)
      expect(await second.text()).toBe(first)
      expect(second.headers.get('idempotent-replayed')).toBe('true')
      expect(stub.counts.requests).toBe(before)
    },
  )

  test('The stored call holds no readable part of the request or the answer.', async () => {
    const call = fresh()
    const word = 'pomegranate'
    for (const { path, body } of doors) {
      for (const stream of [false, true]) {
        const said = body({ model: echo, text: `${word} `.repeat(100), stream })
        const answer = await post(path, `${call} ${path} ${stream}`, said)
        expect(await answer.text()).toContain(word)
      }
    }
    const stored = (await kept()).map(({ reply, ...row }) => [
      JSON.stringify(row),
      Buffer.from(reply ?? []).toString('latin1'),
    ])
    expect(stored.flat().join()).not.toContain(word)
    expect(stored.flat().join()).not.toContain('choices')
    expect(stored.flat().join()).not.toContain(call)
  })

  test.each([runsDoor, ...doors])(
    '$name: a receipt that is erased takes the answer with it; the call stays made',
    async (door) => {
      const call = fresh()
      const able = (await w.key({ scopes: ['runs:write', 'receipts:share'] })).secret
      const ask = door.body({ model: echo, text: 'forget me' })
      const { receipt } = door.read(await (await post(door.path, call, ask, able)).text())
      await w.call(`/v1/receipts/${receipt}/erase`, { key: able, method: 'POST' })
      const answer = await post(door.path, call, ask, able)
      expect(answer.status).toBe(409)
      expect(answer.headers.get('x-should-retry')).toBe('false')
      expect(door.read(await answer.text()).error).toBe('conflict')
    },
  )
})

function streamed(options?: object) {
  const messages = [{ role: 'user', content: 'two words' }]
  return { messages, stream: true, ...(options ? { stream_options: options } : {}) }
}
