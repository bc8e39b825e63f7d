import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { scopes } from '../../../src/access/keys/key.ts'
import type { ReceiptFile } from '../../../src/verify/receipt.ts'
import { addReceipts } from '../../billing/usage/receipts.ts'
import { promise } from '../../support/promise.ts'
import { pricedBuiltins } from '../../support/runs.ts'
import { engines, testAccount, usd, type World, world } from '../../support/world.ts'
import { addAnchors, json, namedKey, runOnce, shareAs } from './world.ts'

const path = '/v1/explorer/recent'
const now = Date.UTC(2026, 10, 20, 12, 34, 56, 789)

describe.each(engines)('GET /v1/explorer/recent on %s', (engine) => {
  let w: World
  let key: string
  beforeAll(async () => {
    w = await world({ engine, now, toml: pricedBuiltins })
    key = (await w.key({ balance: 10n * usd, scopes: [...scopes], tags: { team: 'x' } })).secret
  }, 60_000)
  afterAll(() => w.stop())

  test('200 with an empty list of an empty log', async () => {
    const list = { object: 'list', data: [], has_more: false, first_id: null, last_id: null }
    for (const type of ['receipt', 'anchor', 'passport']) {
      expect(await json(w, `${path}?type=${type}`)).toEqual(list)
    }
  })

  promise`I8 H: The newest runs tell no private id, address or key.`
  test('200: of a private or unlisted receipt its index, minute, model and outcome, no more', async () => {
    await runOnce(w, key)
    const unlisted = await runOnce(w, key)
    await shareAs(w, key, unlisted, { visibility: 'unlisted' })
    const { data } = await json(w, path)
    const row = {
      object: 'receipt',
      visibility: 'private',
      minute: '2026-11-20T12:34:00.000Z',
      model: 'counterfoil/echo-1',
      outcome: 'complete',
    }
    // The price list is the first leaf.
    expect(data).toEqual([
      { ...row, index: 2 },
      { ...row, index: 1 },
    ])
  })

  test('200: a public receipt as its owner shows it, until it is taken back', async () => {
    const id = await runOnce(w, key)
    await shareAs(w, key, id, { visibility: 'public', reveal: ['input'], disclosures: input })
    const shown: ReceiptFile = await json(w, `/v1/receipts/${id}`)
    const { proof: _, disclosures, ...file } = shown
    expect(disclosures?.input?.value).toEqual(input.input.value)
    const [newest] = (await json(w, path)).data
    expect(newest).toEqual({
      id,
      object: 'receipt',
      visibility: 'public',
      index: 3,
      minute: '2026-11-20T12:34:00.000Z',
      model: 'counterfoil/echo-1',
      outcome: 'complete',
      url: `${w.origin}/receipts/${id}`,
      ...file,
    })
    await shareAs(w, key, id, { visibility: 'public', sections: ['charge'] })
    const [redacted] = (await json(w, path)).data
    expect([redacted.model, redacted.outcome]).toEqual([null, null])
    expect(redacted.receipt.run).toHaveProperty('$hash')
    await shareAs(w, key, id, { visibility: 'private' })
    expect((await json(w, path)).data[0]).not.toHaveProperty('id')
  })

  test('200: pages leave nothing out and repeat nothing while receipts come in', async () => {
    const issuer = w.deps.settings.issuer
    const some = (count: number) =>
      addReceipts(
        w,
        Array.from({ length: count }, () => ({
          accountId: testAccount,
          keyId: 'key_1',
          issuer,
          finishedAt: now,
        })),
      )
    await some(40)
    const first = await json(w, `${path}?limit=10`)
    const seen: number[] = first.data.map(({ index }: { index: number }) => index)
    let { last_id: after, has_more: hasMore } = first
    while (hasMore) {
      await some(3)
      const page = await json(w, `${path}?limit=10&after=${after}`)
      seen.push(...page.data.map(({ index }: { index: number }) => index))
      after = page.last_id
      hasMore = page.has_more
    }
    expect(seen).toEqual(Array.from({ length: 43 }, (_, i) => 43 - i))
    expect((await json(w, `${path}?after=0`)).data).toEqual([])
  }, 60_000)

  test('200: anchors, and passports that are published', async () => {
    const [older, newer] = await addAnchors(w, [5, 7])
    const anchors = await json(w, `${path}?type=anchor&limit=1`)
    expect(anchors).toMatchObject({ has_more: true, last_id: newer?.id })
    const next = await json(w, `${path}?type=anchor&after=${newer?.id}`)
    expect(next.data).toEqual([expect.objectContaining({ id: older?.id, leaves: 5 })])
    await namedKey(w, 'tidepool', testAccount)
    const { data } = await json(w, `${path}?type=passport`)
    expect(data).toEqual([expect.objectContaining({ handle: 'tidepool', owner: null })])
  })

  test('any origin may read it, no key changes it, and who has it is told so', async () => {
    const plain = await w.call(path)
    expect(plain.headers.get('access-control-allow-origin')).toBe('*')
    expect(plain.headers.get('cache-control')).toBe('no-cache')
    const body = await plain.text()
    const keyed = await w.call(path, { key })
    expect(await keyed.text()).toBe(body)
    const headers = { 'if-none-match': plain.headers.get('etag') ?? '' }
    expect((await w.call(path, { headers })).status).toBe(304)
  })

  test.each([
    'type=key',
    'limit=0',
    'limit=101',
    'after=',
    'after=rcpt_1',
    'after=-1',
    'after=1.5',
  ])('400 for %s', async (query) => {
    const answer = await w.call(`${path}?${query}`)
    expect(answer.status).toBe(400)
    expect((await answer.json()).error.param).toBe(query.split('=')[0] ?? '')
  })
})

const input = {
  input: {
    value: { model: 'counterfoil/echo-1', messages: [{ role: 'user', content: 'one two' }] },
  },
}
