import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { fromHex, toHex } from '../../src/kernel/hex.ts'
import { commit } from '../../src/verify/commitment.ts'
import {
  chunkOf,
  eventsOf,
  expectSettled,
  frameOf,
  lastRun,
  modelToml,
  receiptIdOf,
  upstreamToml,
} from '../support/runs.ts'
import { startStubUpstream } from '../support/stub-upstream.ts'
import { usd, type World, world } from '../support/world.ts'

/** What the upstream says: chunks to a stream, or a whole message. */
let frames: string[] = []
let message: object = {}
let stub: Awaited<ReturnType<typeof startStubUpstream>>
let w: World
let secret: string
const usage = { prompt_tokens: 5, completion_tokens: 9 }
const done = 'data: [DONE]\n\n'

beforeAll(async () => {
  stub = await startStubUpstream({
    handler: (call, response) => {
      const choices = [{ index: 0, message, finish_reason: 'stop' }]
      const isStream = call.body['stream'] === true
      response.end(isStream ? frames.join('') : JSON.stringify({ choices, usage }))
    },
  })
  w = await world({ toml: upstreamToml('stub', stub.url) + modelToml('stub/any', '"stub:any"') })
  secret = (await w.key({ balance: usd })).secret
})
afterAll(async () => {
  await expectSettled(w)
  await w.stop()
  await stub.stop()
})

const chat = (more: object) => {
  const json = { model: 'stub/any', messages: [{ role: 'user', content: 'hi' }], ...more }
  return w.call('/v1/chat/completions', { key: secret, json })
}

/** Whether the receipt of the last run commits to these choices. */
async function commitsTo(choices: unknown): Promise<boolean> {
  const id = await receiptIdOf(w, secret, (await lastRun(w)).id)
  const file = await (await w.call(`/v1/receipts/${id}`, { key: secret })).json()
  const salt = fromHex(file.disclosures.output.salt)
  if (!salt) throw new Error('no salt')
  return toHex(commit('output/v1', salt, choices)) === file.receipt.content.output
}

const outputUnits = async () =>
  (await lastRun(w)).lines.find(({ meter }) => meter === 'output')?.quantity

describe('whatever an upstream delivers is output that is paid for', () => {
  const call = { name: 'weather', arguments: '{"city":"Rome"}' }
  const custom = { name: 'weather', input: 'Rome, please' }
  const said: Record<string, object> = {
    content: { content: 'hello' },
    reasoning: { content: null, reasoning_content: 'hm' },
    refusal: { content: null, refusal: 'no' },
    'tool_calls of functions': {
      content: null,
      tool_calls: [{ index: 0, id: 'a', type: 'function', function: call }],
    },
    'custom tool_calls': {
      content: null,
      tool_calls: [{ index: 0, id: 'a', type: 'custom', custom }],
    },
    function_call: { content: null, function_call: call },
  }

  for (const [what, delta] of Object.entries(said)) {
    test(`${what}: as reported, and as counted when it is cut off`, async () => {
      message = { role: 'assistant', ...delta }
      expect((await chat({})).status).toBe(200)
      expect(await outputUnits()).toBe(9)
      frames = [chunkOf(delta), chunkOf({}, 'stop'), frameOf({ choices: [], usage }), done]
      await (await chat({ stream: true })).text()
      expect(await outputUnits()).toBe(9)
      frames = [chunkOf(delta)]
      await (await chat({ stream: true })).text()
      expect((await lastRun(w)).outcome).toBe('partial')
      expect(await outputUnits()).toBeGreaterThan(0)
    })
  }

  test('a custom tool call is in the commitment, streamed in pieces or not', async () => {
    const tool_calls = [{ id: 'a', type: 'custom', custom }]
    const whole = { role: 'assistant', content: null, tool_calls }
    const choices = [{ index: 0, message: whole, finish_reason: 'tool_calls' }]
    const piece = (part: object) => chunkOf({ tool_calls: [{ index: 0, ...part }] })
    frames = [
      piece({ id: 'a', type: 'custom', custom: { name: 'weather', input: '' } }),
      piece({ custom: { input: 'Rome, ' } }),
      piece({ custom: { input: 'please' } }),
      chunkOf({}, 'tool_calls'),
      done,
    ]
    await (await chat({ stream: true })).text()
    expect(await commitsTo(choices)).toBe(true)
    message = whole
    await chat({})
    expect(await commitsTo(choices)).toBe(true)
  })
})

describe('choices of one stream', () => {
  const both = (first: object, second: object) => frameOf({ choices: [first, second] })

  test('keep their order when a chunk finishes one and goes on with another', async () => {
    frames = [
      both({ index: 0, delta: { content: 'a' } }, { index: 1, delta: { content: '1' } }),
      both(
        { index: 0, delta: { content: 'b' }, finish_reason: 'stop' },
        { index: 1, delta: { content: '2' } },
      ),
      chunkOf({ content: '3' }, null, 1),
      chunkOf({}, 'stop', 1),
      done,
    ]
    const events = eventsOf(await (await chat({ stream: true, n: 2 })).text())
    const texts = ['', '']
    for (const data of events.slice(0, -1)) {
      for (const { index, delta } of JSON.parse(data).choices) texts[index] += delta.content ?? ''
    }
    expect(texts).toEqual(['ab', '123'])
    const choice = (index: number, content: string) => {
      return { index, message: { role: 'assistant', content }, finish_reason: 'stop' }
    }
    expect(await commitsTo([choice(0, 'ab'), choice(1, '123')])).toBe(true)
  })

  test('the receipt rides on the last chunk, whichever choice finishes last', async () => {
    frames = [chunkOf({ content: 'a' }, 'stop', 1), chunkOf({ content: 'b' }, 'stop', 0), done]
    const events = eventsOf(await (await chat({ stream: true, n: 2 })).text())
    const chunks = events.slice(0, -1).map((data) => JSON.parse(data))
    expect(chunks.map((chunk) => chunk.receipt !== undefined)).toEqual([false, true])
  })
})
