import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import { promise } from '../support/promise.ts'
import {
  allRuns,
  chunkOf,
  expectSettled,
  frameOf,
  modelsToml,
  modelToml,
  upstreamToml,
} from '../support/runs.ts'
import { type StubHandler, startStubUpstream } from '../support/stub-upstream.ts'
import { usd, type World, world } from '../support/world.ts'

type Stub = Awaited<ReturnType<typeof startStubUpstream>>
let stub: Stub
let scripted: Stub
let script: StubHandler
let w: World
let secret: string
let client: OpenAI
const hello: ChatCompletionMessageParam[] = [{ role: 'user', content: 'hello there my friend' }]
const echo = 'counterfoil/echo-1'

const clientOf = (w: World, apiKey: string) => new OpenAI({ baseURL: `${w.origin}/v1`, apiKey })

beforeAll(async () => {
  stub = await startStubUpstream()
  scripted = await startStubUpstream({ handler: (call, response) => script(call, response) })
  const toml = [
    modelsToml(stub.url, ['normal', 'status-500']),
    upstreamToml('scripted', scripted.url),
    modelToml('scripted/chat', '"scripted:chat"'),
    modelToml('off/chat', '"scripted:chat"', 'status = "disabled"'),
  ]
  w = await world({ toml: toml.join('\n') })
  secret = (await w.key({ balance: 10n * usd })).secret
  client = clientOf(w, secret)
})
beforeEach(() => {
  stub.calls.length = 0
  scripted.calls.length = 0
})
afterAll(async () => {
  await expectSettled(w)
  await w.stop()
  await stub.stop()
  await scripted.stop()
})

describe('refusals in the classes of the official client', () => {
  const ask = (key: string, model = echo, more: object = {}) =>
    clientOf(w, key).chat.completions.create({ model, messages: hello, ...more })

  async function refusalOf(asked: Promise<unknown>) {
    const error = await asked.then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    if (!(error instanceof OpenAI.APIError)) throw new Error(`not refused: ${error}`)
    expect(error.requestID).toStartWith('req_')
    expect(error.message).toBeString()
    return error
  }

  test('AuthenticationError for an unknown key', async () => {
    const error = await refusalOf(ask('sk-service-wrong'))
    expect(error).toBeInstanceOf(OpenAI.AuthenticationError)
    expect([error.status, error.type, error.code]).toEqual([401, 'invalid_key', 'invalid_key'])
  })

  test('PermissionDeniedError for a key that may not', async () => {
    const readOnly = await w.key({ scopes: ['runs:read'] })
    const narrow = await w.key({ models: ['acme/*'] })
    const denied = await refusalOf(ask(readOnly.secret))
    expect(denied).toBeInstanceOf(OpenAI.PermissionDeniedError)
    expect(denied.code).toBe('scope_denied')
    expect((await refusalOf(ask(narrow.secret))).code).toBe('model_not_allowed')
  })

  test('BadRequestError names the field', async () => {
    const error = await refusalOf(ask(secret, echo, { max_tokens: 0 }))
    expect(error).toBeInstanceOf(OpenAI.BadRequestError)
    expect(error.param).toBe('max_tokens')
  })

  test('NotFoundError for an unknown and for a disabled model', async () => {
    for (const model of ['acme/none', 'off/chat']) {
      const error = await refusalOf(ask(secret, model))
      expect(error).toBeInstanceOf(OpenAI.NotFoundError)
      expect(error.code).toBe('model_not_found')
    }
  })

  promise`D20`
  test('402 is an APIError, raised at the first try: one call, nothing upstream', async () => {
    const poor = await w.key({ capLimit: 5n })
    let asked = 0
    const counted = new OpenAI({
      baseURL: `${w.origin}/v1`,
      apiKey: poor.secret,
      fetch: (url, init) => {
        asked++
        return fetch(url, init)
      },
    })
    const wish = { model: 'stub/normal', messages: hello }
    const error = await refusalOf(counted.chat.completions.create(wish))
    expect([error.status, error.code]).toEqual([402, 'cap_exceeded'])
    expect([asked, stub.calls.length]).toEqual([1, 0])
  })

  promise`D20`
  test('InternalServerError after its own tries, none of them charged', async () => {
    const before = await allRuns(w)
    const error = await refusalOf(ask(secret, 'stub/status-500'))
    expect(error).toBeInstanceOf(OpenAI.InternalServerError)
    expect([error.status, error.code, stub.calls.length]).toEqual([502, 'upstream_error', 3])
    const runs = (await allRuns(w)).slice(before.length)
    expect(runs.map((run) => [run.status, run.cost])).toEqual(
      Array.from({ length: 3 }, () => ['failed', 0n]),
    )
  })

  test('RateLimitError for failed keys without end', async () => {
    const limited = await world({ toml: '[limits]\nfailed_auth_per_minute = 1' })
    const junk = new OpenAI({ baseURL: `${limited.origin}/v1`, apiKey: 'junk', maxRetries: 0 })
    await junk.models.retrieve('x').catch(() => undefined)
    expect(await refusalOf(junk.models.retrieve('x'))).toBeInstanceOf(OpenAI.RateLimitError)
    await limited.stop()
  })

  test('what fails inside a stream is raised, by the raw stream and by the helper', async () => {
    script = (_, response) => {
      response.end(chunkOf({ content: 'half' }) + frameOf({ error: { message: 'gone' } }))
    }
    const asked = { model: 'scripted/chat', messages: hello }
    const raw = await client.chat.completions.create({ ...asked, stream: true })
    await refusalInStream(Array.fromAsync(raw))
    await refusalInStream(client.chat.completions.stream(asked).finalChatCompletion())
  })

  async function refusalInStream(answer: Promise<unknown>) {
    const error = await answer.then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    expect(error).toBeInstanceOf(OpenAI.APIError)
    expect((error as InstanceType<typeof OpenAI.APIError>).code).toBe('upstream_error')
  }
})

describe('a run that the client tries again', () => {
  test('is charged once when the upstream answered 500 first', async () => {
    const answers = [500, 200]
    script = (_, response) => {
      const status = answers.shift() ?? 200
      const message = { role: 'assistant', content: 'fine' }
      const choices = [{ index: 0, message, finish_reason: 'stop' }]
      const usage = { prompt_tokens: 5, completion_tokens: 1 }
      response.writeHead(status).end(JSON.stringify(status === 200 ? { choices, usage } : {}))
    }
    const { secret: apiKey, key } = await w.key({})
    const asked = { model: 'scripted/chat', messages: hello }
    const said = await clientOf(w, apiKey).chat.completions.create(asked)
    expect(said.choices[0]?.message.content).toBe('fine')
    expect(scripted.calls).toHaveLength(2)
    const runs = (await allRuns(w)).filter((run) => run.keyId === key.id)
    expect(runs.map((run) => [run.status, run.cost]).sort()).toEqual([
      ['failed', 0n],
      ['succeeded', 7_000n],
    ])
    const self = await (await w.call('/v1/keys/self', { key: apiKey })).json()
    expect(self.cap).toMatchObject({ spent_nusd: 7_000, held_nusd: 0 })
  })
})
