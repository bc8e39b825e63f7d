import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { promise } from '../support/promise.ts'
import { allRuns, expectSettled, lastRun, modelToml, upstreamToml } from '../support/runs.ts'
import { type StubHandler, startStubUpstream } from '../support/stub-upstream.ts'
import { engines, testAccount, usd, type World, world } from '../support/world.ts'

const echo = 'counterfoil/echo-1'
const word = (count: number) => Array.from({ length: count }, () => 'w').join(' ')

/** Says so many tokens as its model is called: `<in>-<out>`. */
const counting: StubHandler = (call, response) => {
  const [input, output] = String(call.body['model']).split('-').map(Number)
  const choices = [
    { index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' },
  ]
  const usage = { prompt_tokens: input, completion_tokens: output }
  response.end(JSON.stringify({ choices, usage }))
}

const priced = (id: string, route: string, prices: string, kind = 'chat') => `[[models]]
id = "${id}"
route = ["${route}"]
kind = "${kind}"
context_tokens = 10000
${kind === 'chat' ? 'max_output_tokens = 1000' : ''}
${prices}
`

for (const engine of engines) {
  describe(`models and their prices on ${engine}`, () => {
    let stub: Awaited<ReturnType<typeof startStubUpstream>>
    let w: World
    let secret: string

    beforeAll(async () => {
      stub = await startStubUpstream({ handler: counting })
      const toml = [
        `[[models]]\nid = "${echo}"\ninput_pusd = 150_000\noutput_pusd = 600_000\n`,
        '[[models]]\nid = "counterfoil/embed-1"\ninput_pusd = 20_000\n',
        upstreamToml('stub', stub.url),
        priced('v/a', 'stub:20-0', 'input_pusd = 20_000\noutput_pusd = 0'),
        priced('v/b', 'stub:31-0', 'input_pusd = 150_000\noutput_pusd = 0'),
        priced('v/c', 'stub:1-0', 'input_pusd = 37_500\noutput_pusd = 0'),
        priced('v/d', 'stub:1000-500', 'input_pusd = 150_000\noutput_pusd = 600_000'),
        priced('v/e', 'stub:1-1', 'input_pusd = 0\noutput_pusd = 0\nrequest_nusd = 123'),
        modelToml('v/off', '"stub:1-1"', 'status = "disabled"'),
        modelToml('v/old', '"stub:1-1"', 'status = "deprecated"'),
      ]
      w = await world({ engine, toml: toml.join('\n') })
      secret = (await w.key({ balance: 100n * usd })).secret
    })
    afterAll(async () => {
      await expectSettled(w)
      await w.stop()
      await stub.stop()
    })

    const chat = (model: string, content: string, more: object = {}, key = secret) => {
      const json = { model, messages: [{ role: 'user', content }], ...more }
      return w.call('/v1/chat/completions', { key, json })
    }
    const costOf = async (answer: Response) => {
      const said = await answer.json()
      const shown = [
        said.usage.cost_nusd,
        said.receipt.cost_nusd,
        answer.headers.get('x-cost-nusd'),
      ]
      expect(new Set(shown.map(Number)).size).toBe(1)
      expect(BigInt(shown[0])).toBe((await lastRun(w)).cost)
      return shown[0]
    }

    describe('the price of a run, to the nano-dollar', () => {
      const vectors: [string, string, number][] = [
        ['20 tokens at 20,000', 'v/a', 400],
        ['31 tokens at 150,000', 'v/b', 4650],
        ['1 token at 37,500, rounded up once', 'v/c', 38],
        ['1000 at 150,000 and 500 at 600,000', 'v/d', 450_000],
        ['a price of the request alone', 'v/e', 123],
      ]
      for (const [what, model, cost] of vectors) {
        test(what, async () => {
          // Long enough that the bound of its bytes is above the tokens that are reported.
          expect(await costOf(await chat(model, word(1000)))).toBe(cost)
        })
      }

      test('of the built-in models, a word a token', async () => {
        expect(await costOf(await chat(echo, 'one'))).toBe(750)
        expect(await costOf(await chat(echo, 'one two three', { max_tokens: 2 }))).toBe(1650)
        expect(await costOf(await chat(echo, 'one', { n: 3 }))).toBe(150 + 3 * 600)
        const body = { model: 'counterfoil/embed-1', input: word(20) }
        expect(await costOf(await w.call('/v1/embeddings', { key: secret, json: body }))).toBe(400)
      })

      promise`D8`
      test('the hold covers n choices of max_tokens, and is gone after the run', async () => {
        await chat(echo, 'x', { max_tokens: 10, n: 1 })
        const one = (await lastRun(w)).hold
        await chat(echo, 'x', { max_tokens: 10, n: 3 })
        // Bytes of the member "n" in the body are a little more, too: `,"n":1` and `,"n":3`.
        expect((await lastRun(w)).hold - one).toBe(2n * 10n * 600n)
      })
    })

    promise`D4`
    describe('max_tokens', () => {
      for (const field of ['max_tokens', 'max_completion_tokens']) {
        for (const value of [0, -1, 1.5, '5', true, [], {}, 1e300]) {
          test(`400 for ${field} ${JSON.stringify(value)}: nothing is held`, async () => {
            const before = (await allRuns(w)).length
            const answer = await chat(echo, 'x', { [field]: value })
            expect(answer.status).toBe(400)
            expect((await answer.json()).error).toMatchObject({
              type: 'invalid_request',
              param: field,
            })
            expect((await allRuns(w)).length).toBe(before)
          })
        }
      }

      test('above the limit of the model is 400 on /v1/runs, which names the limit', async () => {
        const json = { model: 'v/a', input: 'x', max_output_tokens: 1001 }
        const answer = await w.call('/v1/runs', { key: secret, json })
        const { error } = await answer.json()
        expect([answer.status, error.param]).toEqual([400, 'max_output_tokens'])
        expect(error.message).toBe(
          'v/a answers with at most 1,000 tokens. Lower max_output_tokens.',
        )
      })

      test('without it the limit of the model is sent upstream, and null is without it', async () => {
        for (const more of [{}, { max_tokens: null }]) {
          stub.calls.length = 0
          expect((await chat('v/a', 'x', more)).status).toBe(200)
          expect(stub.calls[0]?.body['max_tokens']).toBe(1000)
        }
      })

      test('402 says how many tokens could be afforded, and so many can be', async () => {
        // 48 bytes of messages at 150 and some tokens at 600.
        const { secret: poor } = await w.key({ capLimit: 20_000n })
        const refused = await chat(echo, 'x', {}, poor)
        const { error } = await refused.json()
        expect([refused.status, error.type]).toEqual([402, 'cap_exceeded'])
        const most = error.metadata.max_affordable_output_tokens
        expect(most).toBeGreaterThan(0)
        expect((await chat(echo, 'x', { max_tokens: most + 1 }, poor)).status).toBe(402)
        expect((await chat(echo, 'x', { max_tokens: most }, poor)).status).toBe(200)
      })
    })

    describe('what may not be run', () => {
      promise`D24`
      test('404 model_not_found for unknown, disabled and foreign names', async () => {
        for (const model of ['none', '', 'v/off', 'stub:1-1', '__proto__', 'constructor']) {
          const answer = await chat(model, 'x')
          expect([model, answer.status]).toEqual([model, 404])
          expect((await answer.json()).error).toMatchObject({
            type: 'model_not_found',
            param: 'model',
          })
        }
      })

      test('a deprecated model still runs', async () => {
        expect((await chat('v/old', word(10))).status).toBe(200)
      })

      test('400 for a model of the other kind, and for no name', async () => {
        const embedding = { model: echo, input: 'x' }
        const answers = [
          await w.call('/v1/embeddings', { key: secret, json: embedding }),
          await chat('counterfoil/embed-1', 'x'),
          await w.call('/v1/chat/completions', { key: secret, json: { messages: [] } }),
        ]
        for (const answer of answers) {
          expect(answer.status).toBe(400)
          expect((await answer.json()).error.param).toBe('model')
        }
      })

      test('403 model_not_allowed by the globs of the key, and of any key above it', async () => {
        const parent = await w.key({ models: ['counterfoil/*', 'v/a'] })
        const below = { account: testAccount, parentId: parent.key.id }
        const child = await w.key({ ...below, models: ['v/a'] })
        const heir = await w.key(below)
        const tries: [string, string, number][] = [
          [parent.secret, 'v/b', 403],
          [parent.secret, 'v/a', 200],
          [parent.secret, echo, 200],
          [child.secret, 'v/a', 200],
          [child.secret, echo, 403],
          [heir.secret, 'v/b', 403],
        ]
        for (const [key, model, status] of tries) {
          const answer = await chat(model, word(10), {}, key)
          expect([model, answer.status]).toEqual([model, status])
          const said = await answer.json()
          if (status === 403) expect(said.error.type).toBe('model_not_allowed')
        }
      })

      test('403 scope_denied for each route whose scope the key lacks', async () => {
        const reads = await w.key({ scopes: ['runs:read'] })
        const writes = await w.key({ scopes: ['runs:write'] })
        const tries: [string, string, RequestInit][] = [
          [reads.secret, '/v1/chat/completions', { method: 'POST', body: '{}' }],
          [reads.secret, '/v1/embeddings', { method: 'POST', body: '{}' }],
          [reads.secret, '/v1/runs', { method: 'POST', body: '{}' }],
          [reads.secret, '/v1/runs/run_x/cancel', { method: 'POST' }],
          [writes.secret, '/v1/runs', {}],
          [writes.secret, '/v1/runs/run_x', {}],
          [writes.secret, '/v1/runs/run_x/events', {}],
          [writes.secret, '/v1/receipts', {}],
        ]
        for (const [key, path, init] of tries) {
          const answer = await w.call(path, { key, ...init })
          expect([path, answer.status]).toEqual([path, 403])
          expect((await answer.json()).error.type).toBe('scope_denied')
        }
      })

      promise`E1`
      test('images, and more choices or messages than there may be', async () => {
        const url = 'http://127.0.0.1:1/x.png'
        const image = [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }]
        const bad: [object, string][] = [
          [{ messages: image }, 'messages[0].content[0]'],
          [{ n: 0 }, 'n'],
          [{ n: 129 }, 'n'],
          [{ stop: Array(17).fill('x') }, 'stop'],
          [{ tools: [{ type: 'web_search' }] }, 'tools[0].type'],
        ]
        for (const [more, param] of bad) {
          const answer = await chat(echo, 'x', more)
          expect([answer.status, (await answer.json()).error.param]).toEqual([400, param])
        }
      })
    })

    describe('GET /v1/models', () => {
      promise`E5`
      test('The list needs no key and shows all models with prices, and never their upstreams.', async () => {
        const answer = await w.call('/v1/models')
        expect(answer.headers.get('access-control-allow-origin')).toBe('*')
        const text = await answer.text()
        const list = JSON.parse(text)
        expect(list.object).toBe('list')
        const found = list.data.find((model: { id: string }) => model.id === 'v/d')
        expect(found).toMatchObject({
          object: 'model',
          kind: 'chat',
          status: 'live',
          prices: { input_pusd: 150_000, output_pusd: 600_000, request_nusd: 0 },
        })
        expect(text).not.toContain('stub:')
        expect(text).not.toContain(new URL(stub.url).host)
      })

      test('one model is for keys, its slash written or escaped', async () => {
        for (const path of ['counterfoil/echo-1', 'counterfoil%2Fecho-1', 'counterfoil%2fecho-1']) {
          const answer = await w.call(`/v1/models/${path}`, { key: secret })
          expect([path, answer.status]).toEqual([path, 200])
          expect((await answer.json()).id).toBe(echo)
          const blind = await w.call(`/v1/models/${path}`)
          expect([blind.status, (await blind.json()).error.type]).toEqual([401, 'invalid_key'])
        }
        const unknown = await w.call('/v1/models/acme/none', { key: secret })
        expect((await unknown.json()).error.type).toBe('model_not_found')
      })
    })
  })
}
