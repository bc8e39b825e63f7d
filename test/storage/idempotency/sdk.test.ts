import { afterAll, beforeAll, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { promise } from '../../support/promise.ts'
import { allRuns, expectSettled, modelsToml, pricedBuiltins } from '../../support/runs.ts'
import { type StubUpstream, startStubUpstream } from '../../support/stub-upstream.ts'
import { usd, type World, world } from '../../support/world.ts'

const model = 'counterfoil/echo-1'
const messages = [{ role: 'user' as const, content: 'one two three' }]
let w: World
let stub: StubUpstream
let client: OpenAI
beforeAll(async () => {
  stub = await startStubUpstream()
  w = await world({ toml: pricedBuiltins + modelsToml(stub.url, ['status-500']) })
  const { secret: apiKey } = await w.key({ balance: usd })
  client = new OpenAI({ baseURL: `${w.origin}/v1`, apiKey })
}, 60_000)
afterAll(async () => {
  await expectSettled(w)
  await w.stop()
  await stub.stop()
})

const same = (error: unknown) => error
const once = (call: string) => ({ headers: { 'Idempotency-Key': call } })

test('the official client gets the same completion for the same key, and pays once', async () => {
  const first = await client.chat.completions.create({ model, messages }, once('plain'))
  const second = await client.chat.completions.create({ model, messages }, once('plain'))
  expect(second).toEqual(first)
  expect(await allRuns(w)).toHaveLength(1)
})

test('its stream helper reads a stream that is told again', async () => {
  const read = async () => {
    const stream = client.chat.completions.stream({ model, messages }, once('streamed'))
    return { said: await stream.finalContent(), id: (await stream.finalChatCompletion()).id }
  }
  const first = await read()
  expect(first.said).toBe('one two three')
  expect(await read()).toEqual(first)
})

test('its embeddings are told again', async () => {
  const ask = { model: 'counterfoil/embed-1', input: 'text' }
  const first = await client.embeddings.create(ask, once('embedded'))
  expect(await client.embeddings.create(ask, once('embedded'))).toEqual(first)
})

test('another body is its UnprocessableEntityError, and is not tried again', async () => {
  const other = [{ role: 'user' as const, content: 'else' }]
  const asked = client.chat.completions.create({ model, messages: other }, once('plain'))
  expect(await asked.catch(same)).toBeInstanceOf(OpenAI.UnprocessableEntityError)
})

promise`D20`
test('its own retries of a failure reach the upstream: nothing was charged', async () => {
  const asked = client.chat.completions.create(
    { model: 'stub/status-500', messages },
    once('failed'),
  )
  expect(await asked.catch(same)).toBeInstanceOf(OpenAI.InternalServerError)
  expect(stub.counts.requests).toBe(3)
}, 60_000)

test('its retry of a call in flight gets the answer when that is there', async () => {
  const many = await Promise.all(
    Array.from({ length: 10 }, () =>
      client.chat.completions.create({ model, messages }, { ...once('many'), maxRetries: 5 }),
    ),
  )
  expect(new Set(many.map(({ id }) => id)).size).toBe(1)
}, 60_000)
