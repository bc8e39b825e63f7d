import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { canonical } from '../../../src/kernel/canonical.ts'
import { sha256Hex } from '../../../src/kernel/hash.ts'
import { costOf, type Meter, meters } from '../../../src/models/meter.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { meterWords } from '../../../src/verify/meter-words.ts'
import { type Browser, browser, signInWith } from '../../access/accounts/wallet.ts'
import { parseCsv } from '../../billing/usage/receipts.ts'
import { run as terminal } from '../../front/terminal/support.ts'
import { promise } from '../../support/promise.ts'
import { type StubUpstream, startStubUpstream } from '../../support/stub-upstream.ts'
import { testAccount, usd, type World, world } from '../../support/world.ts'
import { answerWithUsage, bodyFor, meteredToml, units, usage } from './service.ts'

const html = { headers: { accept: 'text/html' } }

type Line = { meter: Meter; quantity: number; price_pusd: number }
type Run = { id: string; lines: Line[]; cost_nusd: number; receipt_id: string }

describe('every meter on every surface', () => {
  let upstream: StubUpstream
  let w: World
  let own: Browser
  let secret: string
  let large: Run
  let small: Run
  const json = async (path: string) => (await w.call(path, { key: secret })).json()
  const page = async (path: string) => (await own.call(path, html)).text()

  beforeAll(async () => {
    upstream = await startStubUpstream({ handler: answerWithUsage })
    w = await world({ toml: `admins = ["${testAccount}"]\n${meteredToml(upstream.url)}` })
    secret = (await w.key({ balance: 10n * usd })).secret
    own = browser(w)
    await signInWith(own)
    const ask = async (model: string): Promise<Run> => {
      const answer = await w.call('/v1/chat/completions', { key: secret, json: bodyFor(model) })
      const { receipt } = await answer.json()
      return json(`/v1/runs/${receipt.id.replace('rcpt_', 'run_')}`)
    }
    large = await ask('acme/large')
    small = await ask('acme/small')
  }, 60_000)
  afterAll(async () => {
    await w?.stop()
    await upstream?.stop()
  })

  test('a run has a line for each class, at its rate', () => {
    expect(Object.fromEntries(large.lines.map((line) => [line.meter, line.quantity]))).toEqual(
      units,
    )
    const lines = large.lines.map(({ meter, quantity, price_pusd }) => ({
      ...{ meter, quantity, pricePusd: BigInt(price_pusd) },
    }))
    expect(large.cost_nusd).toBe(Number(costOf(lines, 0)))
  })

  promise`O1`
  test('a class without a rate is billed at the dearest of reading, or as output', () => {
    expect(small.lines).toEqual([
      { meter: 'input', quantity: 25, price_pusd: 150_000 },
      { meter: 'cache_read', quantity: 40, price_pusd: 150_000 },
      { meter: 'cache_write', quantity: 20, price_pusd: 150_000 },
      { meter: 'audio_input', quantity: 10, price_pusd: 150_000 },
      { meter: 'image_input', quantity: 5, price_pusd: 150_000 },
      { meter: 'output', quantity: 60, price_pusd: 600_000 },
    ])
    expect(small.cost_nusd).toBe(100 * 150 + 60 * 600)
  })

  test('usage counts all of a side, and its classes', async () => {
    const { totals } = await json('/v1/usage')
    expect(totals).toMatchObject({
      ...{ runs: 2, input_units: 200, output_units: 120 },
      ...{ cached_units: 80, cache_write_units: 40, reasoning_units: 30 },
    })
    const shown = await page('/dashboard/usage')
    expect(shown).toContain('From a cache')
    expect(shown).toContain('40%')
  })

  test('an export has a line for each meter line, and all units of a run', async () => {
    const focus = parseCsv(
      await (await w.call('/v1/usage/export?format=focus', { key: secret })).text(),
    )
    expect(focus.length - 1).toBe(large.lines.length + small.lines.length)
    const text = await (await w.call('/v1/usage/export?format=jsonl', { key: secret })).text()
    const [first] = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(first).toMatchObject({ input_units: 100, output_units: 60, cached_units: 40 })
    expect(first.lines).toEqual(large.lines)
  })

  test('the page of a run and the slip of its receipt name each in words', async () => {
    const ofRun = await page(`/dashboard/runs/${large.id}`)
    const ofReceipt = await page(`/dashboard/receipts/${large.receipt_id}`)
    for (const { meter, quantity } of large.lines) {
      expect(ofRun).toContain(`<span class="name">${meterWords(meter)}<small`)
      expect(ofReceipt).toContain(`<dt>${meterWords(meter)}</dt>`)
      expect(ofReceipt).toContain(`<dd>${quantity} at $`)
    }
    expect(ofReceipt).toContain('<dd>40 at $0.30 per 1M = $0.000012</dd>')
    expect(ofReceipt).toContain('<dd>1 at $0.0001 each = $0.0001</dd>')
  })

  promise`O2`
  test('lists add up the tokens of every class', async () => {
    expect(await page('/dashboard/runs')).toContain('160')
  })

  test('the page of models shows every rate, bands and tiers', async () => {
    for (const path of ['/models', '/dashboard/admin/models']) {
      const shown = await page(path)
      for (const meter of meters)
        expect([path, shown]).toEqual([path, expect.stringContaining(`<dt>${meterWords(meter)}`)])
      expect(shown).toContain('Above 200,000 tokens of input')
      expect(shown).toContain('service_tier priority')
      expect(shown).toContain('service_tier flex')
    }
  })

  test('an answer gives the details back', async () => {
    const json = bodyFor('acme/large')
    const answer = await w.call('/v1/chat/completions', { key: secret, json })
    const { usage: told } = await answer.json()
    const { prompt_tokens_details: read, completion_tokens_details: written } = usage
    expect(told).toMatchObject({
      ...{ prompt_tokens: 100, completion_tokens: 60 },
      prompt_tokens_details: read,
      completion_tokens_details: written,
    })
    expect(told.cost_nusd).toBe(large.cost_nusd)
  })

  test('the terminal says every rate', async () => {
    const { lines } = await terminal(w, 'price acme/large')
    const text = lines.join('\n')
    for (const words of ['cached input', '$0.30 per 1M tokens', '$0.01 a call', '$0.0001 a run']) {
      expect(text).toContain(words)
    }
    expect(text).toMatch(/\nAbove 200,000 tokens of input\n +input +\$6\.00 per 1M tokens/)
    const all = await terminal(w, 'models')
    expect(all.lines.find((line) => line.startsWith('acme/large'))).toContain(
      '$3.00 in, $0.30 cached, $15.00 out per 1M tokens, $0.0001 a run',
    )
  })

  test('units without a rate are counted for the operator, those of reasoning left out', async () => {
    const answer = await own.call('/api/portal/admin/models', {
      headers: { accept: 'application/json' },
    })
    const { unpriced } = await answer.json()
    const by = Object.fromEntries(
      unpriced.map(({ model, meter, units: count }: Record<string, string>) => [
        `${model} ${meter}`,
        count,
      ]),
    )
    expect(by).toEqual({
      'acme/small cache_read': usage.prompt_tokens_details.cached_tokens,
      'acme/small cache_write': usage.prompt_tokens_details.cache_write_tokens,
      'acme/small audio_input': usage.prompt_tokens_details.audio_tokens,
      'acme/small image_input': usage.prompt_tokens_details.image_tokens,
      'acme/small audio_output': usage.completion_tokens_details.audio_tokens,
      'acme/small image_output': usage.completion_tokens_details.image_tokens,
    })
    const shown = await page('/dashboard/admin/models')
    expect(shown).toContain('Used without a rate')
    expect(shown).toContain('cache_read_pusd')
  })

  promise`O3 C: The price list that a receipt names covers every rate; anyone can recompute it.`
  test('the price list that a receipt names covers all rates, and anyone can recompute it', async () => {
    const { data, price_list: list } = await (await w.call('/v1/models')).json()
    const prices = data
      .map(({ id, prices: own }: { id: string; prices: object }) => ({ id, ...own }))
      .sort((a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1))
    expect(list.digest).toBe(sha256Hex(canonical(prices)))
    const receipt = await json(`/v1/receipts/${large.receipt_id}`)
    expect(receipt.receipt.charge.priceList).toBe(`${list.id}@${list.version}`)
    const { priceLists } = w.db.tables
    const [stored] = await w.db.read((q) => rows(q.select().from(priceLists)))
    expect(stored?.digest).toBe(list.digest)
    expect(stored?.logPlace).not.toBeNull()
    const content = JSON.parse(stored?.content ?? '[]')
    const one = content.find(({ id }: { id: string }) => id === 'acme/large')
    expect(one).toMatchObject({
      ...{ cache_read_pusd: '300000', web_search_nusd: '10000000', request_nusd: '100000' },
      bands: [{ above_input_tokens: 200_000, input_pusd: '6000000', output_pusd: '22500000' }],
    })
    expect(one.tiers).toHaveLength(2)
  })
})
