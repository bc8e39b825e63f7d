import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/models/upstream/upstream.ts'
import { promise } from '../support/promise.ts'
import {
  chunkOf,
  embeddingToml,
  eventsOf,
  expectSettled,
  frameOf,
  lastRun,
  modelToml,
  upstreamToml,
} from '../support/runs.ts'
import { startStubUpstream } from '../support/stub-upstream.ts'
import { usd, type World, world } from '../support/world.ts'

let stub: Awaited<ReturnType<typeof startStubUpstream>>
let w: World
let secret: string
let usage: JsonObject = {}
let tier: string | undefined
const message = { role: 'assistant', content: 'hello' }

beforeAll(async () => {
  stub = await startStubUpstream({
    handler: (call, response) => {
      const facts = { usage, ...(tier === undefined ? {} : { service_tier: tier }) }
      const vectors = { data: [{ object: 'embedding', index: 0, embedding: [1] }], usage }
      const choices = [{ index: 0, message, finish_reason: 'stop' }]
      const whole = call.path.endsWith('/embeddings') ? vectors : { choices, ...facts }
      const frames = [
        chunkOf({ content: 'hello' }),
        chunkOf({}, 'stop'),
        frameOf({ choices: [], ...facts }),
        'data: [DONE]\n\n',
      ]
      response.end(call.body['stream'] === true ? frames.join('') : JSON.stringify(whole))
    },
  })
  const rates = 'cache_read_pusd = 100_000\nreasoning_pusd = 3_000_000\nrequest_nusd = 7'
  w = await world({
    toml:
      upstreamToml('stub', stub.url) +
      modelToml('stub/any', '"stub:any"', rates) +
      embeddingToml('stub/embed', '"stub:embed"'),
  })
  secret = (await w.key({ balance: usd })).secret
})
afterAll(async () => {
  await expectSettled(w)
  await w.stop()
  await stub.stop()
})

const messages = [{ role: 'user', content: 'x'.repeat(200) }]
const call = (path: string, json: object) => w.call(path, { key: secret, json })
const chat = (more: object = {}) =>
  call('/v1/chat/completions', { model: 'stub/any', messages, ...more })

async function lastUsage(answer: Response) {
  const chunk = JSON.parse(eventsOf(await answer.text()).at(-2) ?? '')
  return chunk
}

describe('the usage of an answer', () => {
  test('gives back the details that were reported, and what they cost', async () => {
    const prompt = { cached_tokens: 60, cache_write_tokens: 5, audio_tokens: 0 }
    const completion = { reasoning_tokens: 4, accepted_prediction_tokens: 2 }
    usage = {
      ...{ prompt_tokens: 100, prompt_tokens_details: prompt },
      ...{ completion_tokens: 9, completion_tokens_details: completion },
    }
    const expected = {
      prompt_tokens: 100,
      prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 5 },
      completion_tokens: 9,
      completion_tokens_details: { reasoning_tokens: 4 },
      total_tokens: 109,
    }
    // 35 read, 60 from the cache, 5 written to it at the dearest rate of reading.
    const cost = 35 * 1000 + 60 * 100 + 5 * 1000 + 5 * 2000 + 4 * 3000 + 7
    const whole = await (await chat()).json()
    expect(whole.usage).toEqual({ ...expected, cost_nusd: cost })
    const more = { stream: true, stream_options: { include_usage: true } }
    expect((await lastUsage(await chat(more))).usage).toEqual({ ...expected, cost_nusd: cost })
    const lines = (await lastRun(w)).lines.map(({ meter, quantity }) => [meter, quantity])
    expect(lines).toEqual([
      ['input', 35],
      ['cache_read', 60],
      ['cache_write', 5],
      ['output', 5],
      ['reasoning', 4],
      ['request', 1],
    ])
  })

  test('has no details where there are none, or none that can be true', async () => {
    for (const cached_tokens of [0, 101, -1]) {
      usage = { prompt_tokens: 100, prompt_tokens_details: { cached_tokens }, completion_tokens: 1 }
      const { usage: said } = await (await chat()).json()
      expect(Object.keys(said)).toEqual([
        ...['prompt_tokens', 'completion_tokens', 'total_tokens', 'cost_nusd'],
      ])
    }
  })

  promise`S12`
  test('names what is cached and what is reasoning wherever it has details, as clients want', async () => {
    usage = {
      ...{ prompt_tokens: 100, prompt_tokens_details: { cache_write_tokens: 5 } },
      ...{ completion_tokens: 9, completion_tokens_details: { reasoning_tokens: 0 } },
    }
    const { usage: shown } = await (await chat()).json()
    expect(shown.prompt_tokens_details).toEqual({ cached_tokens: 0, cache_write_tokens: 5 })
    expect(shown).not.toHaveProperty('completion_tokens_details')
  })

  test('of an embedding has them too', async () => {
    usage = { prompt_tokens: 10, prompt_tokens_details: { cached_tokens: 4 }, total_tokens: 10 }
    const answer = await (await call('/v1/embeddings', { model: 'stub/embed', input: 'hi' })).json()
    expect(answer.usage).toEqual({
      prompt_tokens: 10,
      prompt_tokens_details: { cached_tokens: 4 },
      total_tokens: 10,
      cost_nusd: 10_000,
    })
  })

  test('believes hidden reasoning up to the hold where nothing visible came out', async () => {
    usage = { prompt_tokens: 10, completion_tokens: 500 }
    message.content = ''
    const answer = await (await chat({ max_tokens: 600 })).json()
    message.content = 'hello'
    expect([answer.usage.completion_tokens, (await lastRun(w)).usageSource]).toEqual([
      500,
      'reported',
    ])
  })
})

test('The tier of service that the upstream names is told, whole and in a stream.', async () => {
  usage = { prompt_tokens: 10, completion_tokens: 1 }
  tier = 'default'
  expect((await (await chat()).json()).service_tier).toBe('default')
  for (const include_usage of [true, false]) {
    const answer = await chat({ stream: true, stream_options: { include_usage } })
    expect(await lastUsage(answer)).toMatchObject({ service_tier: 'default', receipt: {} })
  }
  tier = 'x'.repeat(200)
  expect(await (await chat()).json()).not.toHaveProperty('service_tier')
  tier = undefined
  expect(await (await chat()).json()).not.toHaveProperty('service_tier')
})
