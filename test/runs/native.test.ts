import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  allRuns,
  eventsOf,
  expectSettled,
  modelsToml,
  pricedBuiltins,
  until,
} from '../support/runs.ts'
import { startStubUpstream, stubWords } from '../support/stub-upstream.ts'
import { engines, usd, type World, world } from '../support/world.ts'

const echo = 'counterfoil/echo-1'
const otherAccount = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
const noRun = 'run_00000000000000000000000000'

for (const engine of engines) {
  describe(`/v1/runs on ${engine}`, () => {
    let stub: Awaited<ReturnType<typeof startStubUpstream>>
    let w: World
    let secret: string
    let keyId: string

    beforeAll(async () => {
      stub = await startStubUpstream()
      const models = modelsToml(stub.url, ['normal', 'slow', 'stall', 'cut-1', 'status-500'])
      w = await world({ engine, toml: pricedBuiltins + models, now: Date.UTC(2026, 5, 1) })
      const made = await w.key({ balance: 10n * usd })
      secret = made.secret
      keyId = made.key.id
    })
    afterAll(async () => {
      await expectSettled(w)
      await w.stop()
      await stub.stop()
    })

    const post = (json: object, key = secret) => w.call('/v1/runs', { key, json })
    const get = (path: string, key = secret) => w.call(path, { key })
    const show = async (id: string) => (await get(`/v1/runs/${id}`)).json()
    const ended = (id: string) =>
      until('the run to end', async () => {
        const run = await show(id)
        return run.finished_at === null ? undefined : run
      })

    describe('a plain run', () => {
      test('answers the whole run object, its output and its receipt', async () => {
        const input = 'two words'
        const answer = await post({ model: echo, input, tags: { team: 'a' }, metadata: { n: 1 } })
        expect(answer.status).toBe(200)
        const run = await answer.json()
        const at = '2026-06-01T00:00:00.000Z'
        const { hold_nusd, id, receipt_id, receipt, ...rest } = run
        expect(rest).toEqual({
          object: 'run',
          status: 'succeeded',
          kind: 'chat',
          model: echo,
          route: 'builtin:counterfoil/echo-1',
          key_id: keyId,
          created_at: at,
          started_at: at,
          first_byte_at: at,
          finished_at: at,
          lines: [
            { meter: 'input', quantity: 2, price_pusd: 150_000 },
            { meter: 'output', quantity: 2, price_pusd: 600_000 },
          ],
          cost_nusd: 1500,
          discount_bps: 0,
          usage_source: 'embedded',
          clamped: false,
          outcome: 'complete',
          error: null,
          background: false,
          tags: { team: 'a' },
          metadata: { n: 1 },
          output: [
            { index: 0, message: { role: 'assistant', content: input }, finish_reason: 'stop' },
          ],
        })
        expect(hold_nusd).toBeGreaterThan(1500)
        expect(receipt).toMatchObject({ id: receipt_id, cost_nusd: 1500 })
        expect(answer.headers.get('x-receipt-id')).toBe(receipt_id)
        expect(answer.headers.get('x-cost-nusd')).toBe('1500')
        const { output, ...shown } = await show(id)
        expect(output).toBeUndefined()
        expect(shown).toEqual({ ...rest, hold_nusd, id, receipt_id, output: undefined })
      })

      test('takes messages, max_output_tokens and params, and embeds', async () => {
        const messages = [{ role: 'user', content: 'a b c' }]
        const body = { model: echo, messages, max_output_tokens: 2, params: { n: 2 } }
        const run = await (await post(body)).json()
        expect(run.output.map((choice: { finish_reason: string }) => choice.finish_reason)).toEqual(
          ['length', 'length'],
        )
        const embedded = await (
          await post({ model: 'counterfoil/embed-1', input: ['a', 'b'] })
        ).json()
        expect(embedded.output).toHaveLength(2)
        expect(embedded.lines).toEqual([{ meter: 'input', quantity: 2, price_pusd: 20_000 }])
      })

      test('that fails says why, in its answer and ever after', async () => {
        const answer = await post({ model: 'stub/status-500', input: 'x' })
        expect(answer.status).toBe(502)
        const { error } = await answer.json()
        const run = await show(error.metadata.run_id)
        expect(run).toMatchObject({ status: 'failed', outcome: 'failed', cost_nusd: 0 })
        expect(run.error).toEqual({ type: 'upstream_error', message: error.message })
        expect(run.receipt_id).toBe(error.metadata.receipt_id)
      })
    })

    describe('a streamed run', () => {
      test('tells its pieces and ends with the paid run', async () => {
        const answer = await post({ model: 'stub/normal', input: 'x', stream: true })
        expect(answer.headers.get('content-type')).toStartWith('text/event-stream')
        const events = eventsOf(await answer.text()).map((data) => JSON.parse(data))
        const deltas = events.filter(({ type }) => type === 'run.output.delta')
        const text = deltas.map(({ choices }) => choices[0].delta.content ?? '').join('')
        expect(text).toBe(stubWords.join(''))
        const last = events.at(-1)
        expect(last).toMatchObject({ type: 'run.completed', run: { status: 'succeeded' } })
        expect(last.receipt).toMatchObject({ id: last.run.receipt_id })
        expect(last.run.output[0].message.content).toBe(stubWords.join(''))
      })

      test('that breaks off ends with an error, and nothing after it', async () => {
        const text = await (await post({ model: 'stub/cut-1', input: 'x', stream: true })).text()
        const events = eventsOf(text).map((data) => JSON.parse(data))
        expect(events.at(-1).error.type).toBe('upstream_error')
      })
    })

    describe('a background run', () => {
      const background = (model: string, more: object = {}) =>
        post({ model, input: 'one two', background: true, ...more })

      test('is answered with 202, ends by itself, and keeps its output for an hour', async () => {
        const answer = await background('stub/normal')
        expect(answer.status).toBe(202)
        const queued = await answer.json()
        expect(queued).toMatchObject({ status: 'queued', started_at: null, receipt_id: null })
        const run = await ended(queued.id)
        expect(run).toMatchObject({ status: 'succeeded', background: true })
        expect(run.output[0].message.content).toBe(stubWords.join(''))
        w.advance(3_600_000)
        await w.deps.runs.dropOutputs(w.deps.clock.now())
        expect((await show(run.id)).output).toBeDefined()
        w.advance(1)
        await w.deps.runs.dropOutputs(w.deps.clock.now())
        const later = await show(run.id)
        expect(later.output).toBeUndefined()
        expect(later.receipt_id).toBe(run.receipt_id)
      })

      test('is running meanwhile, is followed by its events, and can be cancelled', async () => {
        const { id } = await (await background('stub/slow')).json()
        await until('the run to start', async () => (await show(id)).status === 'running')
        await until('the upstream to speak', () => stub.counts.active > 0)
        const events = get(`/v1/runs/${id}/events`)
        const opened = await events
        expect(opened.headers.get('content-type')).toStartWith('text/event-stream')
        await Bun.sleep(30)
        const answer = await w.call(`/v1/runs/${id}/cancel`, { key: secret, method: 'POST' })
        expect((await answer.json()).status).toBe('cancelled')
        const told = eventsOf(await opened.text()).map((data) => JSON.parse(data))
        expect(told[0]).toMatchObject({ type: 'run.status', run: { id } })
        expect(told.some(({ type }) => type === 'run.output.delta')).toBe(true)
        expect(told.at(-1)).toMatchObject({ type: 'run.ended', run: { status: 'cancelled' } })
        expect(told.at(-1).run.cost_nusd).toBeGreaterThan(0)
      })

      test('its events tell the end to whoever comes after it', async () => {
        const { id } = await (await background(echo)).json()
        await ended(id)
        const text = await (await get(`/v1/runs/${id}/events`)).text()
        const told = eventsOf(text).map((data) => JSON.parse(data))
        expect(told.map(({ type }) => type)).toEqual(['run.status', 'run.ended'])
        expect(told[1].run.output[0].message.content).toBe('one two')
      })

      test('the events of another run tell its states, never its output', async () => {
        const run = await (await post({ model: echo, input: 'private words' })).json()
        const text = await (await get(`/v1/runs/${run.id}/events`)).text()
        expect(text).toContain('run.ended')
        expect(text).not.toContain('private words')
      })

      test('that fails, fails in its row: nobody waits for it', async () => {
        const { id } = await (await background('stub/status-500')).json()
        const run = await ended(id)
        expect(run).toMatchObject({ status: 'failed', cost_nusd: 0 })
        expect(run.error.type).toBe('upstream_error')
      })
    })

    describe('the list', () => {
      test('narrows by status and model, and refuses what it does not know', async () => {
        const failed = await (await get('/v1/runs?status=failed&limit=100')).json()
        expect(failed.data.length).toBeGreaterThan(0)
        expect(failed.data.every((run: { status: string }) => run.status === 'failed')).toBe(true)
        const echoes = await (await get(`/v1/runs?model=${echo}&limit=100`)).json()
        expect(new Set(echoes.data.map((run: { model: string }) => run.model))).toEqual(
          new Set([echo]),
        )
        const wrong = ['status=ended', 'model=%00', 'limit=0', 'limit=101', 'limit=x']
        for (const query of [...wrong, `after=${noRun}`]) {
          const answer = await get(`/v1/runs?${query}`)
          expect([query, answer.status]).toEqual([query, 400])
          expect((await answer.json()).error.param).toBe(query.split('=')[0])
        }
      })

      test('pages without a gap or a double while runs come in', async () => {
        w.advance(5)
        const known = (await allRuns(w)).map((run) => run.id).reverse()
        const seen: string[] = []
        let path = '/v1/runs?limit=3'
        for (;;) {
          const page = await (await get(path)).json()
          expect(page.object).toBe('list')
          seen.push(...page.data.map((run: { id: string }) => run.id))
          expect([page.first_id, page.last_id]).toEqual([page.data[0].id, page.data.at(-1).id])
          w.advance(1)
          await post({ model: echo, input: 'meanwhile' })
          if (!page.has_more) break
          path = `/v1/runs?limit=3&after=${page.last_id}`
        }
        expect(seen).toEqual(known)
      })

      test('shows the runs of the own subtree: not those of a sibling or of the parent', async () => {
        const parent = await w.key({})
        const [one, two] = [
          await w.key({ parentId: parent.key.id }),
          await w.key({ parentId: parent.key.id }),
        ]
        const made = await (await post({ model: echo, input: 'mine' }, one.secret)).json()
        const ids = async (key: string) =>
          (await (await get('/v1/runs', key)).json()).data.map((run: { id: string }) => run.id)
        expect(await ids(one.secret)).toEqual([made.id])
        expect(await ids(parent.secret)).toEqual([made.id])
        expect(await ids(two.secret)).toEqual([])
        expect((await get(`/v1/runs/${made.id}`, two.secret)).status).toBe(404)
      })
    })

    test('runs of others and unknown ones answer alike, but for the request id', async () => {
      const { id } = await (await post({ model: echo, input: 'mine' })).json()
      const stranger = await w.key({ account: otherAccount })
      const told = new Set<string>()
      for (const path of [`${id}`, noRun, `${id}/events`, `${noRun}/events`, 'no-id']) {
        const answer = await get(`/v1/runs/${path}`, stranger.secret)
        expect(answer.status).toBe(404)
        told.add((await answer.text()).replace(/req_\w{26}/, ''))
      }
      expect(told.size).toBe(1)
    })

    describe('400 invalid_request', () => {
      const nine = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`t${i}`, 'x']))
      const bad: [object, string][] = [
        [{ input: 'x', colour: 'red' }, 'colour'],
        [{ input: 'x', max_tokens: 5 }, 'max_tokens'],
        [{ input: 'x', messages: [{ role: 'user', content: 'x' }] }, 'input'],
        [{}, 'input'],
        [{ input: ['x'] }, 'input'],
        [{ input: 'x', max_output_tokens: 0 }, 'max_output_tokens'],
        [{ input: 'x', max_output_tokens: '5' }, 'max_output_tokens'],
        [{ input: 'x', max_output_tokens: 1.5 }, 'max_output_tokens'],
        [{ input: 'x', params: { max_tokens: 5 } }, 'params.max_tokens'],
        [{ input: 'x', params: { stream: true } }, 'params.stream'],
        [{ input: 'x', stream: true, background: true }, 'stream'],
        [{ input: 'x', tags: nine }, 'tags'],
        [{ input: 'x', tags: { a: 1 } }, 'tags.a'],
        [{ input: 'x', tags: { a: 'x'.repeat(257) } }, 'tags.a'],
        [{ input: 'x', metadata: { big: 'x'.repeat(5000) } }, 'metadata'],
      ]
      for (const [body, param] of bad) {
        test(`${JSON.stringify(body).slice(0, 60)} names ${param}`, async () => {
          const before = (await allRuns(w)).length
          const answer = await post({ model: echo, ...body })
          expect(answer.status).toBe(400)
          const { error } = await answer.json()
          expect([error.type, error.param]).toEqual(['invalid_request', param])
          expect((await allRuns(w)).length).toBe(before)
        })
      }
    })
  })
}
