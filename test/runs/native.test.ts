import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { allRuns, eventsOf } from '../support/runs.ts'
import { stubWords } from '../support/stub-upstream.ts'
import { engines, type World } from '../support/world.ts'
import { callsOf, echo, type Native, nativeWorld } from './native.ts'

describe.each(engines)('POST /v1/runs on %s', (engine) => {
  let native: Native
  let w: World
  let keyId: string
  const { post, show, background, ended } = callsOf(() => native)
  beforeAll(async () => {
    native = await nativeWorld(engine)
    ;({ w, keyId } = native)
  })
  afterAll(() => native.stop())

  describe('200', () => {
    test('returns the whole run with its output and its receipt', async () => {
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

    test('takes messages, max_output_tokens and params, and makes embeddings', async () => {
      const messages = [{ role: 'user', content: 'a b c' }]
      const body = { model: echo, messages, max_output_tokens: 2, params: { n: 2 } }
      const run = await (await post(body)).json()
      expect(run.output.map((choice: { finish_reason: string }) => choice.finish_reason)).toEqual([
        'length',
        'length',
      ])
      const embedded = await (
        await post({ model: 'counterfoil/embed-1', input: ['a', 'b'] })
      ).json()
      expect(embedded.output).toHaveLength(2)
      expect(embedded.lines).toEqual([{ meter: 'input', quantity: 2, price_pusd: 20_000 }])
    })
  })

  describe('200 with stream: true', () => {
    test('streams the pieces and ends with the paid run', async () => {
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

    test('ends a stream that breaks off with an error, and sends nothing after it', async () => {
      const text = await (await post({ model: 'stub/cut-1', input: 'x', stream: true })).text()
      const events = eventsOf(text).map((data) => JSON.parse(data))
      expect(events.at(-1).error.type).toBe('upstream_error')
    })
  })

  describe('202 with background: true', () => {
    test('ends the run by itself and keeps its output for an hour', async () => {
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

    test('records a failure in the run, because no client waits for it', async () => {
      const { id } = await (await background('stub/status-500')).json()
      const run = await ended(id)
      expect(run).toMatchObject({ status: 'failed', cost_nusd: 0 })
      expect(run.error.type).toBe('upstream_error')
    })
  })

  describe('400', () => {
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
      test(`names ${param} of ${JSON.stringify(body).slice(0, 60)}, and begins no run`, async () => {
        const before = (await allRuns(w)).length
        const answer = await post({ model: echo, ...body })
        expect(answer.status).toBe(400)
        const { error } = await answer.json()
        expect([error.type, error.param]).toEqual(['invalid_request', param])
        expect((await allRuns(w)).length).toBe(before)
      })
    }
  })

  describe('502', () => {
    test('says why the run failed, in the answer and in the run', async () => {
      const answer = await post({ model: 'stub/status-500', input: 'x' })
      expect(answer.status).toBe(502)
      const { error } = await answer.json()
      const run = await show(error.metadata.run_id)
      expect(run).toMatchObject({ status: 'failed', outcome: 'failed', cost_nusd: 0 })
      expect(run.error).toEqual({ type: 'upstream_error', message: error.message })
      expect(run.receipt_id).toBe(error.metadata.receipt_id)
    })
  })
})
