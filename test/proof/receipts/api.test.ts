import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { promise } from '../../support/promise.ts'
import { allRuns, receiptIdOf, until } from '../../support/runs.ts'
import { engines, testAccount, type World } from '../../support/world.ts'
import { callsOf, failed, hello, type Issuing, issuingWorld, type Verdict } from './api.ts'

const otherAccount = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
const unknown = 'rcpt_00000000000000000000000000'

describe.each(engines)('receipts on %s', (engine) => {
  let issuing: Issuing
  let w: World
  let secret: string
  let stub: Issuing['stub']
  const { chat, get, fileOf, verify } = callsOf(() => issuing)
  beforeAll(async () => {
    issuing = await issuingWorld(engine)
    ;({ w, secret, stub } = issuing)
  })
  afterAll(() => issuing.stop())

  test('every run that ended has a valid receipt whose amount follows from its lines', async () => {
    await (await chat('stub/normal')).text()
    await (await chat('stub/normal', { stream: true })).text()
    await (await chat('stub/cut-1', { stream: true })).text()
    await (await chat('stub/status-500')).text()
    const leave = new AbortController()
    const json = { model: 'stub/stall', messages: hello }
    const init = { key: secret, json, signal: leave.signal }
    const gone = w.call('/v1/chat/completions', init).catch(() => undefined)
    await until('the upstream', () => stub.counts.active > 0)
    leave.abort()
    await gone
    await until('the end', () => w.deps.live.count() === 0)
    const runs = await allRuns(w)
    expect(runs.map((run) => run.outcome)).toEqual([
      'complete',
      'complete',
      'partial',
      'failed',
      'cancelled',
    ])
    for (const run of runs) {
      const file = await fileOf(await receiptIdOf(w, secret, run.id))
      const { lines, amount } = file.receipt.charge
      const sum = lines.reduce((all, l) => all + BigInt(l.quantity) * BigInt(l.price), 0n)
      expect(BigInt(amount)).toBe((sum + 999n) / 1000n)
      expect(BigInt(amount)).toBe(run.cost)
      expect(file.receipt.run.outcome).toBe(run.outcome ?? '')
      expect(file.receipt.subject.key).toBe(run.keyId)
      const verdict = await verify(file)
      expect([verdict.valid, failed(verdict)]).toEqual([true, []])
    }
  })

  test('a run names its receipt in X-Receipt-Id, and its cost in X-Cost-Nusd unless it streams', async () => {
    const plain = await chat('stub/normal')
    const said = await plain.json()
    expect(plain.headers.get('x-receipt-id')).toBe(said.receipt.id)
    expect(plain.headers.get('x-cost-nusd')).toBe(String(said.receipt.cost_nusd))
    expect(said.receipt.cost_nusd).toBe(7 * 1000 + 5 * 2000)
    const streamed = await chat('stub/normal', { stream: true })
    const receiptId = streamed.headers.get('x-receipt-id')
    expect(await streamed.text()).toContain(`"id":"${receiptId}"`)
    expect(streamed.headers.get('x-cost-nusd')).toBeNull()
    const broken = await chat('stub/status-500')
    expect((await fileOf(broken.headers.get('x-receipt-id'))).receipt.charge.amount).toBe('0')
  })

  describe('GET /v1/receipts/:id', () => {
    describe('200 or 404', () => {
      test('shows the receipt to its owner, and everybody else what an unknown id shows', async () => {
        const { id } = (await (await chat('stub/normal')).json()).receipt
        const stranger = await w.key({ account: otherAccount })
        const blind = await w.key({ scopes: ['runs:write', 'runs:read'] })
        const told = new Set<string>()
        for (const key of [stranger.secret, blind.secret, 'sk-service-nonsense', undefined]) {
          for (const asked of [id, unknown, 'nonsense']) {
            const answer = await get(asked, key)
            expect(answer.status).toBe(404)
            told.add((await answer.text()).replace(/req_\w{26}/, ''))
          }
        }
        expect(told.size).toBe(1)
        const own = await get(id, secret)
        expect(own.status).toBe(200)
        expect(own.headers.get('cache-control')).toBe('no-store')
      })

      test('shows a child’s receipt to its parent, not to a sibling, and lists do the same', async () => {
        const parent = await w.key({})
        const [one, two] = await Promise.all(
          [1, 2].map(() => w.key({ account: testAccount, parentId: parent.key.id })),
        )
        const made = await chat('stub/normal', {}, one?.secret)
        const { id } = (await made.json()).receipt
        expect((await get(id, parent.secret)).status).toBe(200)
        expect((await get(id, one?.secret)).status).toBe(200)
        expect((await get(id, two?.secret)).status).toBe(404)
        const listed = async (key = '') =>
          (await (await w.call('/v1/receipts', { key })).json()).data.map(
            (r: { id: string }) => r.id,
          )
        expect(await listed(parent.secret)).toEqual([id])
        expect(await listed(two?.secret)).toEqual([])
      })
    })

    describe('200', () => {
      promise`H6`
      test('returns the same bytes at every read', async () => {
        const { id } = (await (await chat('stub/normal')).json()).receipt
        const texts = [1, 2, 3].map(async () => (await get(id, secret)).text())
        expect(new Set(await Promise.all(texts)).size).toBe(1)
      })
    })
  })

  describe('POST /v1/receipts/verify', () => {
    describe('200', () => {
      test('finds the real receipt valid, and needs no key', async () => {
        const file = await fileOf((await chat('stub/normal')).headers.get('x-receipt-id'))
        const verdict = await verify(file)
        expect(verdict).toMatchObject({ valid: true, receipt_id: file.receipt.id })
        expect(verdict.checks.find(({ name }) => name === 'known_here')?.status).toBe('pass')
      })

      test('finds a failed check wherever a single digit was changed', async () => {
        const text = JSON.stringify(
          await fileOf((await chat('stub/normal')).headers.get('x-receipt-id')),
        )
        const { receipt, digest, signature } = JSON.parse(text)
        const signed = JSON.stringify({
          type: 'counterfoil.receipt',
          version: '1',
          receipt,
          digest,
          signature,
        })
        const digits = [...signed.matchAll(/\d/g)].map(({ index }) => index)
        const passed: string[] = []
        for (const at of digits) {
          const digit = (Number(signed[at]) + 1) % 10
          const changed = `${signed.slice(0, at)}${digit}${signed.slice(at + 1)}`
          const answer = await w.call('/v1/receipts/verify', { json: JSON.parse(changed) })
          if (answer.status === 422) continue
          const verdict: Verdict = await answer.json()
          if (verdict.valid || failed(verdict).length === 0)
            passed.push(changed.slice(at - 20, at + 5))
        }
        expect(passed).toEqual([])
      }, 30_000)
    })

    describe('404', () => {
      test('answers alike for the id of a private receipt and for a missing one', async () => {
        const { id } = (await (await chat('stub/normal')).json()).receipt
        const told = new Set<string>()
        for (const asked of [id, unknown, 'nonsense']) {
          const answer = await w.call('/v1/receipts/verify', { json: { id: asked } })
          expect(answer.status).toBe(404)
          told.add((await answer.text()).replace(/req_\w{26}/, ''))
        }
        expect(told.size).toBe(1)
      })
    })

    describe('422', () => {
      promise`G6`
      test('refuses a body that is not a receipt', async () => {
        for (const body of [{ a: 1 }, [], 'x', 7, null, { receipt: {} }]) {
          const answer = await w.call('/v1/receipts/verify', { json: body })
          expect([JSON.stringify(body), answer.status]).toEqual([JSON.stringify(body), 422])
        }
      })
    })
  })
})
