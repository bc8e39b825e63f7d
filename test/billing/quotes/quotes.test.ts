import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { recoverTypedDataAddress } from 'viem'
import { pastAt } from '../../../src/billing/quotes/quotes.ts'
import { chatDoor, doors } from '../../support/doors.ts'
import { promise } from '../../support/promise.ts'
import { expectSettled, moneyOf } from '../../support/runs.ts'
import { type StubUpstream, startStubUpstream } from '../../support/stub-upstream.ts'
import { engines, usd, type World, world } from '../../support/world.ts'
import { askQuote, pricedToml, quoteOf, receiptOf, reprice, runWith } from './priced.ts'

const names = ['normal', 'slow', 'status-429']
const other = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'

describe.each(engines)('a quote on %s', (engine) => {
  let w: World
  let stub: StubUpstream
  let key: string
  beforeAll(async () => {
    stub = await startStubUpstream()
    w = await world({
      engine,
      toml: pricedToml(stub.url, names, 1_000_000),
      now: 1_780_000_000_000,
    })
    key = (await w.key({ balance: 100n * usd })).secret
  }, 30_000)
  afterAll(async () => {
    await expectSettled(w)
    await w.stop()
    await stub.stop()
  })
  const priced = (pusd: number) => reprice(w, pricedToml(stub.url, names, pusd))
  const errorOf = async (answer: Response | Promise<Response>) => {
    const { status } = await answer
    const { error } = await (await answer).json()
    return [status, error.type, error.param]
  }

  test('is typed data that any wallet library checks, at the most that a run can cost', async () => {
    const made = await quoteOf(w, key)
    const signer = await (await w.call('/v1/signer')).json()
    const { Quote, Rate } = signer.other_types
    const address = await recoverTypedDataAddress({
      domain: signer.domain,
      types: { Quote, Rate },
      primaryType: 'Quote',
      message: made.quote as never,
      signature: made.signature as `0x${string}`,
    })
    expect(address).toBe(signer.address)
    // 500 at 1,000 and 100 at 2,000 nano-USD, and 7 for the request.
    expect(made.max_nusd).toBe(700_007)
    expect(made.quote).toMatchObject({ max_nusd: '700007', price_list: 'default@1', uses: '1' })
    expect(made).toMatchObject({ object: 'quote', uses_left: 1, model: 'stub/normal' })
  })

  promise`D55 C: A run with a quote is held and charged at the quoted rates, also if prices changed
    since.`
  test('is kept through three price changes at every door, and the receipt names it', async () => {
    for (const door of doors) {
      for (const stream of [false, true]) {
        await priced(1_000_000)
        const free = await runWith(w, key, (await quoteOf(w, key)).id, door, { stream })
        const before = door.read(await free.text())
        const made = await quoteOf(w, key)
        for (const pusd of [2_000_000, 9_000_000, 500_000]) await priced(pusd)
        await priced(50_000_000)
        const answer = await runWith(w, key, made.id, door, { stream })
        const heard = door.read(await answer.text())
        expect([answer.status, heard.cost]).toEqual([200, before.cost])
        const file = await receiptOf(w, key, heard.receipt ?? '')
        expect(file.receipt.charge.priceList).toBe(`quote:${made.digest}`)
        expect(Number(file.receipt.charge.amount)).toBeLessThanOrEqual(made.max_nusd)
        const json = { receipt: file, quote: made }
        const verdict = await (await w.call('/v1/receipts/verify', { json })).json()
        const check = verdict.checks.find(({ name }: { name: string }) => name === 'quote')
        expect([verdict.valid, check.status]).toEqual([true, 'pass'])
      }
    }
    await priced(1_000_000)
  }, 60_000)

  promise`D55`
  test('is held at its own rates, so that a dearer list takes no more of the balance', async () => {
    const made = await quoteOf(w, key, { model: 'stub/slow' })
    await priced(1_000_000_000)
    const answer = await runWith(w, key, made.id, chatDoor, { model: 'stub/slow', stream: true })
    const { held_nusd: held } = await moneyOf(w, key)
    expect(held).toBeGreaterThan(0)
    expect(held).toBeLessThanOrEqual(made.max_nusd)
    await answer.body?.cancel()
    await priced(1_000_000)
  })

  test('is refused where it is not for that run, and takes nothing', async () => {
    const made = await quoteOf(w, key)
    const before = await moneyOf(w, key)
    const stranger = (await w.key({ account: other, balance: usd })).secret
    const none = 'quote_01k1j8dq00q2s4v6x8z1b3d5f7'
    const no = [404, 'not_found', 'X-Counterfoil-Quote']
    for (const id of [none, 'quote_1', ' ', `${made.id}x`]) {
      expect(await errorOf(runWith(w, key, id, chatDoor))).toEqual(no)
    }
    expect(await errorOf(runWith(w, stranger, made.id, chatDoor))).toEqual(no)
    const wrong = [400, 'invalid_request', 'X-Counterfoil-Quote']
    const runs = [{ model: 'stub/slow' }, { most: 101 }, { text: 'x'.repeat(501) }]
    for (const more of runs) {
      expect(await errorOf(runWith(w, key, made.id, chatDoor, more))).toEqual(wrong)
    }
    const tier = { model: 'stub/normal', messages: [{ role: 'user', content: 'hi' }] }
    const headers = { 'x-counterfoil-quote': made.id }
    const dear = { ...tier, max_tokens: 9, service_tier: 'priority' }
    const asked = w.call('/v1/chat/completions', { key, headers, json: dear })
    expect(await errorOf(asked)).toEqual([400, 'invalid_request', 'service_tier'])
    w.advance(600_000)
    const gone = [410, 'gone', 'X-Counterfoil-Quote']
    expect(await errorOf(runWith(w, key, made.id, chatDoor))).toEqual(gone)
    expect(await moneyOf(w, key)).toEqual(before)
    expect((await (await w.call(`/v1/quotes/${made.id}`, { key })).json()).uses_left).toBe(1)
    expect((await w.call(`/v1/quotes/${made.id}`, { key: stranger })).status).toBe(404)
  })

  promise`D56 C: Exactly as many runs are charged by a quote as it says, at once and on two nodes
    too.`
  test('is used exactly as often as it says, however many runs ask at once', async () => {
    const made = await quoteOf(w, key, { uses: 5, max_input_tokens: 500 })
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => runWith(w, key, made.id, chatDoor)),
    )
    const statuses = answers.map(({ status }) => status)
    for (const { body } of answers) await body?.cancel()
    expect(statuses.filter((status) => status === 200).length).toBe(5)
    expect(statuses.filter((status) => status === 410).length).toBe(35)
    expect((await (await w.call(`/v1/quotes/${made.id}`, { key })).json()).uses_left).toBe(0)
  }, 30_000)

  test('of any account is used exactly as often by accounts that share it', async () => {
    const made = await quoteOf(w, key, { uses: 6, account: 'any' })
    const stranger = (await w.key({ account: other, balance: usd })).secret
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, i) => runWith(w, i % 2 ? key : stranger, made.id, chatDoor)),
    )
    for (const { body } of answers) await body?.cancel()
    expect(answers.filter(({ status }) => status === 200).length).toBe(6)
  }, 30_000)

  promise`D56`
  test('is given back by a run that ends without a charge', async () => {
    const made = await quoteOf(w, key, { model: 'stub/status-429' })
    for (const _ of [1, 2]) {
      const answer = await runWith(w, key, made.id, chatDoor, { model: 'stub/status-429' })
      expect(answer.status).toBe(503)
      await answer.body?.cancel()
    }
    expect((await (await w.call(`/v1/quotes/${made.id}`, { key })).json()).uses_left).toBe(1)
  })

  test('reserves no money, and an empty balance refuses its run with 402', async () => {
    const poor = (await w.key({ account: `0x${'ab'.repeat(20)}`, balance: 1000n })).secret
    const made = await quoteOf(w, poor)
    expect(await moneyOf(w, poor)).toMatchObject({ balance_nusd: 1000, held_nusd: 0 })
    const answer = await runWith(w, poor, made.id, chatDoor)
    expect(answer.status).toBe(402)
    await answer.body?.cancel()
    expect((await (await w.call(`/v1/quotes/${made.id}`, { key: poor })).json()).uses_left).toBe(1)
  })

  test('limits a request that names no limit, and one with fit', async () => {
    const body = { model: 'stub/normal', messages: [{ role: 'user', content: 'hi' }] }
    for (const more of [{}, { fit: true, max_tokens: 1000 }]) {
      const made = await quoteOf(w, key, { max_output_tokens: 20 })
      const headers = { 'x-counterfoil-quote': made.id }
      const asked = w.call('/v1/chat/completions', { key, headers, json: { ...body, ...more } })
      expect((await asked).status).toBe(200)
      await (await asked).body?.cancel()
      expect(stub.calls.at(-1)?.body['max_tokens']).toBe(20)
    }
  })

  test('is made once for a repeated Idempotency-Key, and never with a wrong wish', async () => {
    const headers = { 'idempotency-key': 'quote once' }
    const [first, again] = [
      await askQuote(w, key, {}, headers),
      await askQuote(w, key, {}, headers),
    ]
    expect(await first.json()).toEqual(await again.json())
    const wrong: [object, string][] = [
      [{ valid_s: 3601 }, 'valid_s'],
      [{ valid_s: 0 }, 'valid_s'],
      [{ max_input_tokens: 0 }, 'max_input_tokens'],
      [{ max_output_tokens: 1.5 }, 'max_output_tokens'],
      [{ uses: 0 }, 'uses'],
      [{ account: other }, 'account'],
      [{ service_tier: 'gold' }, 'service_tier'],
    ]
    for (const [wish, param] of wrong) {
      const [status, , named] = await errorOf(askQuote(w, key, wish))
      expect([status, named]).toEqual([status === 422 ? 422 : 400, param])
    }
    expect((await errorOf(askQuote(w, key, { model: 'no/such' })))[1]).toBe('model_not_found')
    expect((await w.call('/v1/quotes', { json: {} })).status).toBe(401)
    const reader = (await w.key({ scopes: ['runs:read'] })).secret
    expect((await errorOf(askQuote(w, reader)))[1]).toBe('scope_denied')
  })

  test('is deleted a minute after its end, or a month after if a run was charged by it', async () => {
    const [unused, used] = [await quoteOf(w, key), await quoteOf(w, key)]
    await (await runWith(w, key, used.id, chatDoor)).text()
    const drop = () => w.deps.quotes.dropPast(pastAt(w.deps.clock.now()))
    const statuses = async () => {
      await drop()
      const asked = [unused, used].map(({ id }) => w.call(`/v1/quotes/${id}`, { key }))
      return (await Promise.all(asked)).map(({ status }) => status)
    }
    w.advance(630_000)
    expect(await statuses()).toEqual([200, 200])
    w.advance(60_000)
    expect(await statuses()).toEqual([404, 200])
    w.advance(30 * 86_400_000)
    expect(await statuses()).toEqual([404, 404])
  })
})
