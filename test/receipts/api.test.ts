import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { fromHex, toHex } from '../../src/kernel/hex.ts'
import { commit } from '../../src/verify/commitment.ts'
import {
  allRuns,
  embeddingToml,
  eventsOf,
  expectSettled,
  modelsToml,
  pricedBuiltins,
  receiptIdOf,
  until,
} from '../support/runs.ts'
import { startStubUpstream } from '../support/stub-upstream.ts'
import { engines, testAccount, usd, type World, world } from '../support/world.ts'

type File = {
  receipt: {
    id: string
    subject: { account: string; key: string }
    run: { outcome: string; model: string; kind: string; usageSource: string }
    charge: {
      lines: { meter: string; quantity: string; price: string }[]
      discountBps: string
      amount: string
    }
    content: { input: string; output: string }
  }
  digest: string
  signature: string
  disclosures: Record<'input' | 'output', { salt: string } | undefined>
}
type Verdict = { valid: boolean; level: string; checks: { name: string; status: string }[] }

const otherAccount = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
const unknown = 'rcpt_00000000000000000000000000'
const hello = [{ role: 'user', content: 'hello there' }]

for (const engine of engines) {
  describe(`receipts on ${engine}`, () => {
    let stub: Awaited<ReturnType<typeof startStubUpstream>>
    let w: World
    let secret: string

    beforeAll(async () => {
      stub = await startStubUpstream()
      const toml =
        pricedBuiltins +
        modelsToml(stub.url, ['normal', 'slow', 'stall', 'cut-1', 'status-500']) +
        embeddingToml('stub/embed', '"stub:embed"')
      w = await world({ engine, toml })
      secret = (await w.key({ balance: 10n * usd })).secret
    })
    afterAll(async () => {
      await expectSettled(w)
      await w.stop()
      await stub.stop()
    })

    const chat = (model: string, more: object = {}, key = secret) =>
      w.call('/v1/chat/completions', { key, json: { model, messages: hello, ...more } })
    const get = (id: string, key?: string) =>
      w.call(`/v1/receipts/${id}`, key === undefined ? {} : { key })
    const fileOf = async (id: string | null): Promise<File> => {
      const answer = await get(id ?? '', secret)
      expect(answer.status).toBe(200)
      return answer.json()
    }
    const verify = async (file: unknown): Promise<Verdict> => {
      const answer = await w.call('/v1/receipts/verify', { json: file })
      expect(answer.status).toBe(200)
      return answer.json()
    }
    const failed = ({ checks }: Verdict) =>
      checks.filter(({ status }) => status === 'fail').map(({ name }) => name)

    /** The commitment of a value, as anybody computes it who has the salt. */
    const opens = (file: File, tag: 'input' | 'output', value: unknown) =>
      toHex(commit(`${tag}/v1`, fromHex(file.disclosures[tag]?.salt ?? '') ?? fail(), value)) ===
      file.receipt.content[tag]
    const fail = (): never => {
      throw new Error('no salt')
    }

    test('every run that ended leaves a valid one whose amount follows from its lines', async () => {
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

    test('headers name it: X-Receipt-Id always, X-Cost-Nusd on plain answers', async () => {
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

    describe('POST /v1/receipts/verify', () => {
      test('says valid of the real file, without a key', async () => {
        const file = await fileOf((await chat('stub/normal')).headers.get('x-receipt-id'))
        const verdict = await verify(file)
        expect(verdict).toMatchObject({ valid: true, receipt_id: file.receipt.id })
        expect(verdict.checks.find(({ name }) => name === 'known_here')?.status).toBe('pass')
      })

      test('every single changed digit makes a named check fail', async () => {
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

      test('an id of a private receipt answers like one that never was', async () => {
        const { id } = (await (await chat('stub/normal')).json()).receipt
        const told = new Set<string>()
        for (const asked of [id, unknown, 'nonsense']) {
          const answer = await w.call('/v1/receipts/verify', { json: { id: asked } })
          expect(answer.status).toBe(404)
          told.add((await answer.text()).replace(/req_\w{26}/, ''))
        }
        expect(told.size).toBe(1)
      })

      test('what is no receipt is refused with what is wrong', async () => {
        for (const body of [{ a: 1 }, [], 'x', 7, null, { receipt: {} }]) {
          const answer = await w.call('/v1/receipts/verify', { json: body })
          expect([JSON.stringify(body), answer.status]).toEqual([JSON.stringify(body), 422])
        }
      })
    })

    describe('GET /v1/receipts/:id', () => {
      test('is for its owner: all others and no key see what an unknown id shows', async () => {
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

      test("a child's is visible to its parent, not to a sibling; lists say the same", async () => {
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

      test('is the same bytes at every read', async () => {
        const { id } = (await (await chat('stub/normal')).json()).receipt
        const texts = [1, 2, 3].map(async () => (await get(id, secret)).text())
        expect(new Set(await Promise.all(texts)).size).toBe(1)
      })
    })

    describe('commitments', () => {
      const said = {
        index: 0,
        message: { role: 'assistant', content: 'The quick brown fox jumps' },
        finish_reason: 'stop',
      }

      test('open with the salts, the exact body and the choices: streamed or not', async () => {
        for (const more of [{ unknown_field: [1, { b: 2 }] }, { stream: true, temperature: 0.1 }]) {
          const answer = await chat('stub/normal', more)
          await answer.text()
          const file = await fileOf(answer.headers.get('x-receipt-id'))
          const body = { model: 'stub/normal', messages: hello, ...more }
          expect(opens(file, 'input', body)).toBe(true)
          expect(opens(file, 'input', { ...body, extra: 1 })).toBe(false)
          expect(opens(file, 'output', [said])).toBe(true)
          expect(opens(file, 'output', [{ ...said, finish_reason: 'length' }])).toBe(false)
          const disclosures = {
            input: { ...file.disclosures.input, value: body },
            output: { ...file.disclosures.output, value: [said] },
          }
          const verdict = await verify({ ...file, disclosures })
          const content = verdict.checks.filter(({ name }) => name.startsWith('content_'))
          expect(content.map(({ status }) => status)).toEqual(['pass', 'pass'])
        }
      })

      test('of a stream that broke off open with what was delivered', async () => {
        const answer = await chat('stub/cut-1', { stream: true })
        const events = eventsOf(await answer.text())
        const file = await fileOf(JSON.parse(events.at(-1) ?? '').error.metadata.receipt_id)
        const message = { role: 'assistant', content: 'The' }
        expect(opens(file, 'output', [{ index: 0, message, finish_reason: null }])).toBe(true)
      })

      test('of embeddings open with the data that was answered', async () => {
        for (const model of ['counterfoil/embed-1', 'stub/embed']) {
          const body = { model, input: ['a', 'b'], encoding_format: 'float' }
          const answer = await w.call('/v1/embeddings', { key: secret, json: body })
          const { data, receipt } = await answer.json()
          const file = await fileOf(receipt.id)
          expect(file.receipt.run.kind).toBe('embedding')
          expect([opens(file, 'input', body), opens(file, 'output', data)]).toEqual([true, true])
        }
      })

      test('of a native run open with its own body', async () => {
        const body = { model: 'stub/normal', input: 'hello', tags: { a: 'b' } }
        const { receipt, output } = await (
          await w.call('/v1/runs', { key: secret, json: body })
        ).json()
        const file = await fileOf(receipt.id)
        expect([opens(file, 'input', body), opens(file, 'output', output)]).toEqual([true, true])
      })

      test('a run without output commits to none', async () => {
        const file = await fileOf((await chat('stub/status-500')).headers.get('x-receipt-id'))
        expect(file.receipt.content.output).toMatch(/^0x0{64}$/)
        expect(file.disclosures.output).toBeUndefined()
      })
    })
  })
}
