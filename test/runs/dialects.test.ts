import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { type JsonObject, objectOf } from '../../src/kernel/json-object.ts'
import { sendJson } from '../support/messages-upstream.ts'
import { promise } from '../support/promise.ts'
import {
  allRuns,
  expectSettled,
  modelToml,
  moneyOf,
  neverOpens,
  upstreamToml,
} from '../support/runs.ts'
import { speechAt } from '../support/stub-speech.ts'
import { startStubUpstream, stubUsage } from '../support/stub-upstream.ts'
import { engines, usd, type World, world } from '../support/world.ts'

type Stub = Awaited<ReturnType<typeof startStubUpstream>>

/** The members that a server refuses, by the name of its model. */
const refused = new Map<string, string[]>()

/** A server that refuses what {@link refused} names, one member a time. */
const strict = () =>
  startStubUpstream({
    handler(call, response): void {
      const { body } = call
      const model = String(body['model'])
      const member = refused.get(model)?.find((name) => body[name] !== undefined)
      if (member !== undefined) {
        const message = `Unsupported parameter: '${member}' is not supported with this model.`
        sendJson(response, 400, { error: { message, param: member } })
        return
      }
      const speech = speechAt(call.path, model)
      if (body['stream'] !== true) {
        sendJson(response, 200, speech.whole('Hello', stubUsage))
        return
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const chunk = (delta: JsonObject, finish_reason: string | null, more: JsonObject = {}) =>
        `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }], ...more })}\n\n`
      response.end(
        `${chunk({ content: 'Hello' }, null)}${chunk({}, 'stop', { usage: stubUsage })}data: [DONE]\n\n`,
      )
    },
  })

/** Each is refused by a model of its name. */
const members: [name: string, value: JsonObject[string]][] = [
  ['stream_options', { include_usage: true }],
  ['parallel_tool_calls', true],
  ['user', 'someone'],
  ['seed', 7],
  ['logit_bias', { '1': 1 }],
  ['temperature', 0.5],
  ['top_p', 0.5],
  ['frequency_penalty', 0.1],
  ['presence_penalty', 0.1],
  ['reasoning_effort', 'low'],
  ['verbosity', 'low'],
  ['max_tokens', 50],
]

promise`S5 C: A member that a model server refuses is learned by one more try before the first byte,
  with the same hold, or a raised one where the server takes no limit.`
describe.each(engines)('dialects of model servers on %s', (engine) => {
  let stub: Stub
  let w: World
  beforeAll(async () => {
    stub = await strict()
    const toml = [
      upstreamToml('stub', stub.url),
      upstreamToml('mute', stub.url, `${neverOpens}\nrelay_messages = false`),
      upstreamToml(
        'declared',
        stub.url,
        `${neverOpens}\ndialect = { without = ["seed"], limit = "none" }`,
      ),
      ...members.map(([name]) => modelToml(`stub/${name}`, `"stub:${name}"`)),
      modelToml('stub/unlimited', '"stub:unlimited"'),
      modelToml('stub/two-steps', '"stub:unlimited-2", "stub:plain"'),
      modelToml('stub/stubborn', '"stub:stubborn"'),
      modelToml('mute/stubborn', '"mute:stubborn"'),
      modelToml('declared/any', '"declared:any"'),
    ]
    w = await world({ engine, toml: toml.join('') })
    for (const [name] of members) refused.set(name, [name])
    refused.set('unlimited', ['max_tokens', 'max_completion_tokens'])
    refused.set('unlimited-2', ['max_tokens', 'max_completion_tokens'])
    refused.set('stubborn', ['messages'])
    refused.set('any', ['seed', 'max_tokens', 'max_completion_tokens'])
  }, 60_000)
  beforeEach(() => {
    stub.calls.length = 0
    w.logged.length = 0
  })
  afterAll(async () => {
    await expectSettled(w)
    await w.stop()
    await stub.stop()
  })

  let accounts = 0
  const keyWith = async (balance = usd) => {
    const account = `0x${(++accounts).toString(16).padStart(40, 'd')}`
    return (await w.key({ account, balance })).secret
  }
  const ask = async (key: string, model: string, more: JsonObject = {}) => {
    const messages = [{ role: 'user', content: 'Say hello.' }]
    const answer = await w.call('/v1/chat/completions', { key, json: { model, messages, ...more } })
    return { status: answer.status, headers: answer.headers, text: await answer.text() }
  }
  const learned = () => w.logged.filter(({ event }) => event === 'upstream.learned')

  test.each(members)(
    'A server that refuses %s by name is learned after one retry.',
    async (name, value) => {
      const key = await keyWith()
      const model = `stub/${name}`
      const isStream = name === 'stream_options'
      const request = { [name]: value, ...(isStream ? { stream: true } : {}) }
      const first = await ask(key, model, request)
      expect(first.status).toBe(200)
      expect(first.text).toContain('Hello')
      expect(stub.calls).toHaveLength(2)
      expect(objectOf(stub.calls[1]?.body)[name]).toBeUndefined()
      expect(learned().map(({ fields }) => fields)).toEqual([
        { upstream: 'stub', model: name, member: `without ${name}` },
      ])
      const isNamed = !isStream && name !== 'max_tokens'
      expect(first.headers.get('x-counterfoil-ignored')).toBe(isNamed ? name : null)
      const second = await ask(key, model, request)
      expect(second.status).toBe(200)
      expect(stub.calls).toHaveLength(3)
      expect(learned()).toHaveLength(1)
      // The hold and the bill are those of a server that takes it.
      const runs = (await allRuns(w)).filter((run) => run.model === model)
      expect(new Set(runs.map(({ cost }) => cost))).toEqual(new Set([17_000n]))
      expect(new Set(runs.map(({ hold }) => hold)).size).toBe(1)
    },
  )

  promise`S5`
  test('A server that takes no limit is held for all that its model writes.', async () => {
    const key = await keyWith()
    const answer = await ask(key, 'stub/unlimited', { max_tokens: 10 })
    expect(answer.status).toBe(200)
    expect(
      stub.calls.map(({ body }) => [body['max_tokens'], body['max_completion_tokens']]),
    ).toEqual([
      [10, undefined],
      [undefined, 10],
      [undefined, undefined],
    ])
    expect(answer.headers.get('x-counterfoil-ignored')).toBe('max_tokens')
    const [run] = (await allRuns(w)).filter(({ model }) => model === 'stub/unlimited')
    expect(run?.hold).toBeGreaterThan(1000n * 2000n)
    // Once that is known, the run begins so.
    await ask(key, 'stub/unlimited', { max_tokens: 10 })
    expect(stub.calls).toHaveLength(4)
    expect((await moneyOf(w, key)).held_nusd).toBe(0)
  })

  test('A purse without room for the raised hold is refused before the server is asked so.', async () => {
    w.deps.upstreams.get('stub')?.dialects?.learn('unlimited-2', {})
    const key = await keyWith(1_000_000n)
    const answer = await ask(key, 'stub/two-steps', { max_tokens: 10 })
    expect(answer.status).toBe(402)
    expect(JSON.parse(answer.text).error).toMatchObject({
      type: 'insufficient_balance',
      metadata: { limited_by: 'balance', available_nusd: 1_000_000 },
    })
    expect(stub.calls).toHaveLength(2)
    expect(await moneyOf(w, key)).toMatchObject({ balance_nusd: 1_000_000, held_nusd: 0 })
  })

  test('A refusal of the messages is not tried again, and its words reach the client.', async () => {
    const key = await keyWith()
    const answer = await ask(key, 'stub/stubborn')
    expect(answer.status).toBe(400)
    expect(JSON.parse(answer.text).error).toMatchObject({
      message:
        "The model server refused the request: Unsupported parameter: 'messages' is not supported with this model.",
      param: 'messages',
      metadata: { upstream: { status: 400 } },
    })
    expect(stub.calls).toHaveLength(1)
    const silent = await ask(key, 'mute/stubborn')
    expect(JSON.parse(silent.text).error.message).toBe(
      'The model server refused the request (status 400). Check its fields.',
    )
    expect((await moneyOf(w, key)).balance_nusd).toBe(Number(usd))
  })

  test('What the operator declared is not tried.', async () => {
    const key = await keyWith()
    const answer = await ask(key, 'declared/any', { seed: 1, max_tokens: 5 })
    expect(answer.status).toBe(200)
    expect(stub.calls).toHaveLength(1)
    expect(answer.headers.get('x-counterfoil-ignored')).toBe('max_tokens, seed')
    const [run] = (await allRuns(w)).filter(({ model }) => model === 'declared/any')
    expect(run?.hold).toBeGreaterThan(1000n * 2000n)
  })

  promise`S5`
  test('Caps stay exact while holds are raised at once.', async () => {
    w.deps.upstreams.get('stub')?.dialects?.learn('unlimited-2', {})
    const key = await keyWith(10_000_000n)
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => ask(key, 'stub/two-steps', { max_tokens: 1 })),
    )
    expect(new Set(answers.map(({ status }) => status)).difference(new Set([200, 402])).size).toBe(
      0,
    )
    expect(answers.some(({ status }) => status === 200)).toBe(true)
    const runs = (await allRuns(w)).filter(({ cost, hold }) => cost > hold)
    expect(runs).toEqual([])
    expect((await moneyOf(w, key)).held_nusd).toBe(0)
  })

  test('Operators see what was learned.', () => {
    const facts = w.deps.upstreams.list().flatMap(({ dialects }) => dialects?.list() ?? [])
    expect(facts.map(({ model }) => model)).toContain('seed')
  })
})
