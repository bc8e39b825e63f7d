import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  chunkOf,
  eventsOf,
  everythingWritten,
  expectSettled,
  frameOf,
  lastRun,
  modelToml,
  until,
  upstreamToml,
} from '../support/runs.ts'
import { startStubUpstream } from '../support/stub-upstream.ts'
import { usd, type World, world } from '../support/world.ts'

type Said = { status: number; body: string | object }

const openai = (message: string, more: object = {}) => ({
  error: { message, type: 'invalid_request_error', param: null, code: null, ...more },
})

const vllm = (message: string) => ({ object: 'error', message, type: 'BadRequestError', code: 400 })

/** What servers say of a request that is too long, in their own forms. */
const tooLong: Record<string, Said> = {
  'OpenAI, by its code': {
    status: 400,
    body: openai('Your input exceeds the context window of this model.', {
      code: 'context_length_exceeded',
    }),
  },
  'OpenAI, by its words': {
    status: 400,
    body: openai(
      "This model's maximum context length is 8192 tokens. However, you asked for more.",
    ),
  },
  vLLM: {
    status: 400,
    body: vllm("You passed 5000 input tokens. The model's context length is only 4096 tokens."),
  },
  'vLLM, of its engine': {
    status: 400,
    body: vllm('The decoder prompt (length 5000) is longer than the maximum model length of 4096.'),
  },
  'llama.cpp': {
    status: 400,
    body: {
      error: {
        code: 400,
        message: 'request (4390 tokens) exceeds the available context size (4096 tokens)',
        type: 'exceed_context_size_error',
        n_ctx: 4096,
      },
    },
  },
  'llama.cpp, as a fault': {
    status: 500,
    body: {
      error: { code: 500, message: 'Context size has been exceeded.', type: 'server_error' },
    },
  },
  Ollama: { status: 500, body: { error: 'the input length exceeds the context length' } },
  Anthropic: {
    status: 400,
    body: {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'prompt is too long: 9 tokens > 8 maximum' },
    },
  },
  'Anthropic, by bytes': {
    status: 413,
    body: { type: 'error', error: { type: 'request_too_large', message: 'Request too large.' } },
  },
  'a proxy': { status: 413, body: '<html>413 Request Entity Too Large</html>' },
}

/** In the address of the upstream: letters alone, as the name of an error has them. */
const hidden = 'hidden_path_of_ours'
const others: Record<string, Said & { type: string }> = {
  'a wrong field': {
    status: 400,
    body: openai(`"temperature" is wrong; ${hidden}`, { code: 'invalid_value' }),
    type: 'invalid_request',
  },
  'an error of its own': {
    status: 500,
    body: { error: 'model runner died' },
    type: 'upstream_error',
  },
  'too many tokens a minute': {
    status: 429,
    body: openai('Rate limit: too many tokens. Please reduce the length of the messages.'),
    type: 'unavailable',
  },
  'a name that is in its address': {
    status: 400,
    body: { error: { message: 'no', code: hidden, type: 'their_own' } },
    type: 'invalid_request',
  },
  nonsense: { status: 400, body: '{"error":', type: 'invalid_request' },
}

let said: Said = { status: 400, body: {} }
let isStuck = false
let stub: Awaited<ReturnType<typeof startStubUpstream>>
let w: World
let secret: string

beforeAll(async () => {
  stub = await startStubUpstream({
    handler: (_, response) => {
      const { status, body } = said
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      response.writeHead(status, {
        'content-type': status === 200 ? 'text/event-stream' : 'application/json',
      })
      if (isStuck) response.write(text)
      else response.end(text)
    },
  })
  w = await world({
    toml: upstreamToml('stub', `${stub.url}/${hidden}`) + modelToml('stub/any', '"stub:any"'),
  })
  secret = (await w.key({ balance: usd })).secret
})
afterAll(async () => {
  await expectSettled(w)
  await w.stop()
  await stub.stop()
})

const chat = (stream: boolean) => {
  const messages = [{ role: 'user', content: 'hello' }]
  return w.call('/v1/chat/completions', {
    key: secret,
    json: { model: 'stub/any', messages, stream },
  })
}

describe('a request that is too long for the model server', () => {
  for (const [who, answer] of Object.entries(tooLong)) {
    test(`is context_length_exceeded, in our words, as ${who} says it`, async () => {
      said = answer
      for (const stream of [false, true]) {
        const refused = await chat(stream)
        expect(refused.status).toBe(400)
        const { error } = await refused.json()
        expect([error.type, error.code]).toEqual([
          'context_length_exceeded',
          'context_length_exceeded',
        ])
        expect(error.message).toContain('maximum context length of 10000 tokens')
        const run = await lastRun(w)
        expect([run.outcome, run.cost, run.error?.type]).toEqual([
          ...['failed', 0n, 'context_length_exceeded'],
        ] as never)
      }
    })
  }

  test('is so in band too, before any output; after it, it is a failure that was charged', async () => {
    const fault = frameOf({ error: { message: 'Context size has been exceeded.' } })
    said = { status: 200, body: fault }
    expect((await (await chat(true)).json()).error.type).toBe('context_length_exceeded')
    said = { status: 200, body: chunkOf({ content: 'half' }) + fault }
    const events = eventsOf(await (await chat(true)).text())
    expect(JSON.parse(events.at(-1) ?? '').error.type).toBe('upstream_error')
    expect((await lastRun(w)).outcome).toBe('partial')
  })

  for (const [what, { type, ...answer }] of Object.entries(others)) {
    test(`is something else than ${what}`, async () => {
      said = answer
      const { error } = await (await chat(false)).json()
      expect(error.type).toBe(type)
    })
  }

  test('whose error never ends is refused all the same', async () => {
    said = { status: 400, body: `{"error":{"message":"context length exceeded` }
    isStuck = true
    expect((await (await chat(false)).json()).error.type).toBe('invalid_request')
    isStuck = false
    await until('the connection to be let go', () => stub.counts.active === 0)
  })
})

test('The log has the status and the name of an error, and no word of it.', async () => {
  const logged = w.logged.filter((line) => JSON.stringify(line).includes('upstream.failed'))
  const text = JSON.stringify(logged)
  expect(text).toContain('"code":"exceed_context_size_error"')
  expect(text).toContain('"code":"invalid_value"')
  expect(text).toContain('"code":"their_own"')
  expect(text).toContain('"status":413')
  for (const never of [hidden, 'temperature', 'runner died', 'prompt is too long']) {
    expect(text).not.toContain(never)
  }
  // Clients read why a request was refused, in its run too; other words are kept nowhere.
  const written = await everythingWritten(w)
  for (const never of ['runner died', 'prompt is too long']) expect(written).not.toContain(never)
})
