import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/models/upstream/upstream.ts'
import { prng } from '../ledger/prng.ts'
import { promise } from '../support/promise.ts'
import {
  allRuns,
  chunkOf,
  eventsOf,
  expectSettled,
  frameOf,
  modelToml,
  upstreamToml,
} from '../support/runs.ts'
import { type StubUpstream, startStubUpstream } from '../support/stub-upstream.ts'
import { usd, type World, world } from '../support/world.ts'

/** Pico-USD a token, as the upstream bills and as the model is sold. */
const rates = { input: 2_500_000, cache_read: 250_000, cache_write: 3_125_000, output: 10_000_000 }
const turns = 50
const random = prng(50)

/** What the upstream bills by itself: units by class, and nano-USD rounded up a request. */
const own = { input: 0, cache_read: 0, cache_write: 0, output: 0, nusd: 0n }
/** The longest prompt that it has in its cache, in tokens. */
let cached = 0

function usageOf(body: JsonObject, said: string): JsonObject {
  const prompt = Math.ceil(JSON.stringify(body['messages']).length / 4)
  const hidden = random.below(300)
  const completion = Math.ceil(said.length / 4) + hidden
  const read = Math.min(cached, Math.floor(prompt / 128) * 128)
  const written = Math.floor((prompt - read) / 128) * 128
  cached = read + written
  const units = { input: prompt - read - written, cache_read: read, cache_write: written }
  let pusd = BigInt(completion) * BigInt(rates.output)
  own.output += completion
  for (const name of ['input', 'cache_read', 'cache_write'] as const) {
    own[name] += units[name]
    pusd += BigInt(units[name]) * BigInt(rates[name])
  }
  own.nusd += (pusd + 999n) / 1000n
  return {
    prompt_tokens: prompt,
    prompt_tokens_details: { cached_tokens: read, cache_write_tokens: written },
    completion_tokens: completion,
    completion_tokens_details: { reasoning_tokens: hidden },
    total_tokens: prompt + completion,
  }
}

let stub: StubUpstream
let w: World
let secret: string

beforeAll(async () => {
  stub = await startStubUpstream({
    handler: ({ body }, response) => {
      const said = 'thinking about it '.repeat(1 + random.below(20))
      const usage = usageOf(body, said)
      const message = { role: 'assistant', content: said }
      if (body['stream'] !== true) {
        const choices = [{ index: 0, message, finish_reason: 'stop' }]
        return void response.end(JSON.stringify({ choices, usage }))
      }
      const words = said.split(/(?<= )/).map((content) => chunkOf({ content }))
      const last = chunkOf({}, 'stop') + frameOf({ choices: [], usage })
      response.end(`${words.join('')}${last}data: [DONE]\n\n`)
    },
  })
  const model = modelToml('acme/agent', '"stub:agent"')
    .replace('context_tokens = 10000', 'context_tokens = 1_000_000')
    .replace(/input_pusd = .*\n/, `input_pusd = ${rates.input}\n`)
    .replace(/output_pusd = .*\n/, `output_pusd = ${rates.output}\n`)
  const more = `cache_read_pusd = ${rates.cache_read}\ncache_write_pusd = ${rates.cache_write}\n`
  w = await world({ toml: `${upstreamToml('stub', stub.url)}${model}${more}` })
  secret = (await w.key({ balance: 100n * usd })).secret
})
afterAll(async () => {
  await expectSettled(w)
  await w.stop()
  await stub.stop()
})

/** One turn; returns what the model said and what it cost, as the answer tells both. */
async function turn(messages: JsonObject[], stream: boolean) {
  const json = { model: 'acme/agent', messages, stream, stream_options: { include_usage: true } }
  const answer = await w.call('/v1/chat/completions', { key: secret, json })
  if (!stream) {
    const { choices, usage } = await answer.json()
    return { said: choices[0].message.content, usage }
  }
  const chunks = eventsOf(await answer.text())
    .filter((data) => data !== '[DONE]')
    .map((data) => JSON.parse(data))
  const said = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')
  return { said, usage: chunks.at(-1).usage }
}

promise`D9`
test("An agent of 50 turns over one growing prefix pays its upstream's own sum.", async () => {
  const messages: JsonObject[] = [{ role: 'system', content: 'You use tools. '.repeat(400) }]
  let told = 0n
  let cachedTold = 0
  for (let at = 0; at < turns; at++) {
    messages.push({
      role: 'user',
      content: `step ${at}: ${'look again '.repeat(random.below(40))}`,
    })
    const { said, usage } = await turn(messages, at % 2 === 0)
    messages.push({ role: 'assistant', content: said })
    told += BigInt(usage.cost_nusd)
    cachedTold += usage.prompt_tokens_details.cached_tokens ?? 0
  }
  const billed = { input: 0, cache_read: 0, cache_write: 0, output: 0, nusd: 0n }
  const rows = await allRuns(w)
  for (const { lines, cost, usageSource, clamped } of rows) {
    expect([usageSource, clamped]).toEqual(['reported', false])
    billed.nusd += cost
    for (const { meter, quantity } of lines) billed[meter as 'input'] += quantity
  }
  expect(rows).toHaveLength(turns)
  expect(billed).toEqual(own)
  expect([told, cachedTold]).toEqual([own.nusd, own.cache_read])
  // Most of it came from the cache, so a bill without classes would be several times as high.
  expect(own.cache_read).toBeGreaterThan(5 * own.input)
})
