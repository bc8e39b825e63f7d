import { afterEach, beforeEach, expect, test } from 'bun:test'
import {
  allRuns,
  expectSettled,
  lastEnded,
  modelToml,
  neverOpens,
  upstreamToml,
} from '../support/runs.ts'
import { seeded } from '../support/seeded.ts'
import { type StubUpstream, startStubUpstream } from '../support/stub-upstream.ts'
import { usd, type World, world } from '../support/world.ts'

let one: StubUpstream
let two: StubUpstream
let w: World
let secret: string

const steps = '{ to = "one:normal", weight = 8 }, { to = "two:normal", weight = 2 }'
const cost = (pusd: number) => `cost = { input_pusd = ${pusd}, output_pusd = ${pusd} }`
const cheap = `{ to = "one:normal", weight = 1, ${cost(900)} }, { to = "two:normal", weight = 1, ${cost(100)} }`
const mended = '{ to = "one:status-500", weight = 9 }, { to = "two:status-429", weight = 9 }'

beforeEach(async () => {
  one = await startStubUpstream()
  two = await startStubUpstream()
  const toml = [
    upstreamToml('one', one.url, neverOpens),
    upstreamToml('two', two.url, neverOpens),
    modelToml('by/weight', steps),
    modelToml('by/cost', cheap, 'balance = "cost"'),
    modelToml('by/latency', steps, 'balance = "latency"'),
    modelToml('by/load', steps, 'balance = "least-busy"'),
    modelToml('by/order', steps, 'balance = "order"'),
    modelToml('by/fallback', `${mended}, "two:normal"`),
    modelToml('plain/m', '"one:normal"'),
  ].join('')
  w = await world({ toml })
  secret = (await w.key({ balance: 100n * usd })).secret
})
afterEach(async () => {
  await expectSettled(w)
  await w.stop()
  await one.stop()
  await two.stop()
})

async function ask(model: string, said: string, more: object = {}): Promise<string> {
  const json = { model, messages: [{ role: 'user', content: said }], max_tokens: 100, ...more }
  const answer = await w.call('/v1/chat/completions', { key: secret, json })
  await answer.text()
  expect(answer.status).toBe(200)
  return (await lastEnded(w)).route
}

test('Steps share conversations by their weights, and a conversation keeps its step.', async () => {
  let ofOne = 0
  for (let i = 0; i < 60; i++) {
    const first = await ask('by/weight', `Conversation ${i}`, { stream: i % 2 === 0 })
    if (first === 'one:normal') ofOne++
    if (i % 6 === 0) expect(await ask('by/weight', `Conversation ${i}`)).toBe(first)
  }
  expect(ofOne).toBeGreaterThan(34)
  expect(ofOne).toBeLessThan(60)
})

test('A conversation that its client names keeps its step when its words change.', async () => {
  const routes = new Set<string>()
  for (let i = 0; i < 15; i++) {
    routes.add(await ask('by/weight', `Turn ${i}`, { prompt_cache_key: 'mine' }))
  }
  expect(routes.size).toBe(1)
  const seen = new Set<string>()
  for (let i = 0; i < 15; i++) {
    const json = { model: 'by/weight', messages: [{ role: 'user', content: `Turn ${i}` }] }
    const headers = { 'x-session-id': 'theirs' }
    const answer = await w.call('/v1/chat/completions', { key: secret, json, headers })
    await answer.text()
    seen.add((await lastEnded(w)).route)
  }
  expect(seen.size).toBe(1)
})

test('The cheapest step is asked for a request, and the first where the order is fixed.', async () => {
  for (let i = 0; i < 8; i++) {
    expect(await ask('by/cost', `Conversation ${i}`)).toBe('two:normal')
    expect(await ask('by/order', `Conversation ${i}`)).toBe('one:normal')
  }
})

test('A group that fails gives way to the next step under the same hold, which the receipt names.', async () => {
  for (let i = 0; i < 8; i++) {
    expect(await ask('by/fallback', `Conversation ${i}`)).toBe('two:normal')
  }
})

test('A hold with many routes is that of its dearest step, and never below what is billed.', async () => {
  const random = seeded(3)
  const models = ['by/weight', 'by/cost', 'by/latency', 'by/load', 'by/order', 'by/fallback']
  for (let i = 0; i < 60; i++) {
    const said = 'word '.repeat(1 + Math.floor(random() * 300))
    const max_tokens = 5 + Math.floor(random() * 900)
    const more = { max_tokens, stream: random() < 0.5 }
    await ask('plain/m', said, more)
    const { hold } = await lastEnded(w)
    await ask(models[i % models.length] ?? 'by/weight', said, more)
    const run = await lastEnded(w)
    // All steps sell at the model's price, so each is as dear as one alone.
    expect(run.hold).toBe(hold)
    expect(run.cost).toBeGreaterThan(0n)
  }
  const runs = await allRuns(w)
  expect(runs.filter((run) => run.cost > run.hold)).toEqual([])
})
