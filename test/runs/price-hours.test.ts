import { afterEach, beforeEach, expect, test } from 'bun:test'
import { expectSettled, lastEnded, modelToml, neverOpens, upstreamToml } from '../support/runs.ts'
import { type StubUpstream, startStubUpstream } from '../support/stub-upstream.ts'
import { configOf, usd, type World, world } from '../support/world.ts'

let stub: StubUpstream
let w: World
let secret: string

const hours = `[[models.hours]]
from = "16:30"
to = "00:30"
input = "$0.25/M"
output = "$5/M"
`
const evening = Date.parse('2026-06-01T16:29:58.000Z')

beforeEach(async () => {
  stub = await startStubUpstream()
  const names = ['normal', 'slow']
  const toml =
    upstreamToml('stub', stub.url, neverOpens) +
    names.map((name) => modelToml(`stub/${name}`, `"stub:${name}"`, hours)).join('')
  w = await world({ toml, now: evening })
  secret = (await w.key({ balance: 100n * usd })).secret
})
afterEach(async () => {
  await expectSettled(w)
  await w.stop()
  await stub.stop()
})

const asks = (model: string, more: object = {}, headers = {}) => {
  const messages = [{ role: 'user', content: 'Hi.' }]
  return w.call('/v1/chat/completions', {
    key: secret,
    headers,
    json: { model, messages, max_tokens: 100, ...more },
  })
}
async function ask(more: object = {}, headers = {}) {
  await (await asks('stub/normal', more, headers)).text()
  return pricesOfLast()
}
async function pricesOfLast() {
  const { lines, priceList, hold, cost, id } = await lastEnded(w)
  expect(cost <= hold).toBe(true)
  return { id, hold, priceList, prices: lines.map(({ price }) => price) }
}
const usual = ['1000000', '2000000']
const then = ['250000', '5000000']

test('A run is held and charged at the prices of its hour, and its receipt has these.', async () => {
  const before = await ask()
  expect(before.prices).toEqual(usual)
  w.advance(2000)
  const after = await ask({ stream: true })
  expect([after.prices, after.priceList]).toEqual([then, before.priceList])
  expect(after.hold).not.toBe(before.hold)
  const file = await (
    await w.call(`/v1/receipts/rcpt_${after.id.slice(4)}`, { key: secret })
  ).json()
  expect(file.receipt.charge.lines.map(({ price }: { price: string }) => price)).toEqual(then)
  const json = { receipt: file }
  expect((await (await w.call('/v1/receipts/verify', { json })).json()).valid).toBe(true)
  w.advance(8 * 3_600_000)
  expect((await ask()).prices).toEqual(usual)
})

test('A run that goes on into the next hours keeps the prices of its beginning.', async () => {
  w.advance(2000 + 7 * 3_600_000 + 59 * 60_000)
  const answer = await asks('stub/slow', { stream: true })
  const reader = answer.body?.getReader()
  await reader?.read()
  w.advance(120_000)
  await reader?.cancel()
  await expectSettled(w)
  expect((await pricesOfLast()).prices).toEqual(then)
  expect((await ask()).prices).toEqual(usual)
})

test('A quote keeps the prices of the hour in which it was made.', async () => {
  const wish = { model: 'stub/normal', max_input_tokens: 500, max_output_tokens: 100, valid_s: 600 }
  const quote = await (await w.call('/v1/quotes', { key: secret, json: wish })).json()
  expect([quote.max_nusd, quote.quote.price_list]).toEqual([500 * 1000 + 100 * 2000, 'default@1'])
  w.advance(60_000)
  const { prices, priceList } = await ask({}, { 'x-counterfoil-quote': quote.id })
  expect([prices, priceList]).toEqual([usual, `quote:${quote.digest}`])
})

test('Times that are none, and days that are none, are refused by the name of the setting.', () => {
  const model = (of: string) =>
    upstreamToml('stub', 'http://127.0.0.1:9/v1') + modelToml('stub/normal', '"stub:a"', of)
  const read = (of: string) => () => configOf(model(of))
  expect(read(hours)).not.toThrow()
  expect(read(hours.replace('16:30', '24:00'))).toThrow('models[1].hours[1].from must be a time')
  expect(read(hours.replace('00:30', '24:00'))).not.toThrow()
  expect(read(`${hours}days = ["someday"]\n`)).toThrow('models[1].hours[1].days')
})
