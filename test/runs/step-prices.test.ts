import { afterEach, beforeEach, expect, test } from 'bun:test'
import {
  allRuns,
  expectSettled,
  lastEnded,
  modelToml,
  neverOpens,
  upstreamToml,
} from '../support/runs.ts'
import { type StubUpstream, startStubUpstream } from '../support/stub-upstream.ts'
import { usd, type World, world } from '../support/world.ts'

let one: StubUpstream
let two: StubUpstream
let w: World
let secret: string

const dear = 'input = "$3/M", output = "$1/M"'

beforeEach(async () => {
  one = await startStubUpstream()
  two = await startStubUpstream()
  const toml = [
    upstreamToml('one', one.url, neverOpens),
    upstreamToml('two', two.url, neverOpens),
    modelToml('own/first', `{ to = "one:normal", ${dear} }, "two:normal"`),
    modelToml('own/second', `"one:status-500", { to = "two:normal", ${dear} }`),
    modelToml('own/failing', `{ to = "one:status-500", ${dear} }`),
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

const said = 'word '.repeat(40)

async function ask(model: string, most: number, more: object = {}, headers = {}) {
  const json = { model, messages: [{ role: 'user', content: said }], max_tokens: most, ...more }
  const answer = await w.call('/v1/chat/completions', { key: secret, json, headers })
  await answer.text()
  return { status: answer.status, run: await lastEnded(w) }
}

const pricesOf = (lines: readonly { meter: string; price: string }[]) =>
  Object.fromEntries(lines.map(({ meter, price }) => [meter, price]))

test('A run is charged at the prices of the step that answered, from the hold of the dearest.', async () => {
  for (const stream of [false, true]) {
    const first = (await ask('own/first', 10, { stream })).run
    expect([first.route, pricesOf(first.lines)]).toEqual([
      'one:normal',
      { input: '3000000', output: '1000000' },
    ])
    const second = (await ask('own/second', 10, { stream })).run
    expect([second.route, pricesOf(second.lines)]).toEqual([
      'two:normal',
      { input: '3000000', output: '1000000' },
    ])
    expect([first.hold, first.cost]).toEqual([second.hold, second.cost])
  }
  // Where the answer may be long, the model's own price of output is the dearer one.
  const plain = (await ask('plain/m', 900)).run
  const long = (await ask('own/first', 900)).run
  expect([long.hold, long.priceList]).toEqual([plain.hold, plain.priceList])
  const short = (await ask('plain/m', 10)).run
  expect((await ask('own/first', 10)).run.hold).toBeGreaterThan(short.hold)
  expect((await allRuns(w)).filter((run) => run.cost > run.hold)).toEqual([])
})

test('A run that fails costs nothing, at the price of the step that was asked last.', async () => {
  const { status, run } = await ask('own/failing', 10)
  expect([status, run.cost, pricesOf(run.lines)]).toEqual([
    502,
    0n,
    { input: '3000000', output: '1000000' },
  ])
})

test('Receipts of such runs verify, and their prices are in the list that they name.', async () => {
  const { run } = await ask('own/first', 10)
  const file = await (await w.call(`/v1/receipts/rcpt_${run.id.slice(4)}`, { key: secret })).json()
  const json = { receipt: file }
  const verdict = await (await w.call('/v1/receipts/verify', { json })).json()
  expect([verdict.valid, file.receipt.charge.priceList]).toEqual([true, 'default@1'])
  const { data } = await (await w.call('/v1/models')).json()
  const listed = data.find(({ id }: { id: string }) => id === 'own/first')
  expect(listed.prices.others).toEqual([
    { input_pusd: 3_000_000, output_pusd: 1_000_000, request_nusd: 0 },
  ])
})

test('A quote promises the dearest rates, and its runs are charged by them at any step.', async () => {
  const wish = { model: 'own/second', max_input_tokens: 500, max_output_tokens: 100, valid_s: 600 }
  const quote = await (await w.call('/v1/quotes', { key: secret, json: wish })).json()
  expect(quote.max_nusd).toBe(500 * 3000 + 100 * 2000)
  const { run } = await ask('own/second', 20, {}, { 'x-counterfoil-quote': quote.id })
  expect([run.priceList, pricesOf(run.lines)]).toEqual([
    `quote:${quote.digest}`,
    { input: '3000000', output: '2000000' },
  ])
  const file = await (await w.call(`/v1/receipts/rcpt_${run.id.slice(4)}`, { key: secret })).json()
  const json = { receipt: file, quote }
  expect((await (await w.call('/v1/receipts/verify', { json })).json()).valid).toBe(true)
})

test('A cap that the dearest step would exceed refuses the run before any server is asked.', async () => {
  const poor = (await w.key({ capLimit: 800_000n })).secret
  const json = { messages: [{ role: 'user', content: said }], max_tokens: 10 }
  const asks = (model: string) =>
    w.call('/v1/chat/completions', { key: poor, json: { ...json, model } })
  expect((await asks('plain/m')).status).toBe(200)
  expect((await asks('own/second')).status).toBe(402)
})
