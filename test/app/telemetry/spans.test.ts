import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { promise } from '../../support/promise.ts'
import { until } from '../../support/runs.ts'
import { type StubUpstream, startStubUpstream, stubWords } from '../../support/stub-upstream.ts'
import { testAccount } from '../../support/world.ts'
import { type Collector, type SeenSpan, startCollector } from './collector.ts'
import { credential, tracing } from './tracing.ts'

const parentId = '00f067aa0ba902b7'
const said = 'a word in confidence'

/** An id that no other request of these tests has. */
let traces = 0
const newTrace = () => (++traces).toString(16).padStart(32, 'a')

/** Every door and protocol, plain and streamed: its path, its body, and why an answer ends. */
const messages = [{ role: 'user', content: said }]
const doors: [path: string, model: string, body: object, reason: string][] = [
  ['/v1/chat/completions', 'far/chat', { messages, max_tokens: 50 }, 'stop'],
  ['/v1/chat/completions', 'far/messages', { messages, max_tokens: 50 }, 'stop'],
  ['/v1/chat/completions', 'far/responses', { messages, max_tokens: 50 }, 'stop'],
  ['/v1/messages', 'far/chat', { messages, max_tokens: 50 }, 'stop'],
  ['/v1/messages', 'far/messages', { messages, max_tokens: 50 }, 'end_turn'],
  ['/v1/responses', 'far/chat', { input: said, max_output_tokens: 50 }, 'stop'],
  ['/v1/responses', 'far/responses', { input: said, max_output_tokens: 50 }, 'completed'],
  ['/v1/runs', 'far/chat', { messages, max_output_tokens: 50 }, 'stop'],
]
const asked = doors.flatMap(([path, model, body, reason]) =>
  [false, true].map((stream) => ({ path, model, body: { ...body, stream }, reason })),
)

describe('a run that is traced', () => {
  let upstream: StubUpstream
  let collector: Collector
  let t: Awaited<ReturnType<typeof tracing>>
  beforeAll(async () => {
    upstream = await startStubUpstream()
    collector = await startCollector()
    t = await tracing(collector.url, upstream, 'pass_to = ["messages"]')
  })
  afterAll(async () => {
    await t.stop()
    await collector.stop()
    await upstream.stop()
  })

  /** Asks within a trace of the caller's, and waits for the span of the run. */
  async function traced(path: string, json: object, more: Record<string, string> = {}) {
    const id = newTrace()
    const answer = await t.ask(path, json, { traceparent: `00-${id}-${parentId}-01`, ...more })
    return { ...answer, id, ...(await seen(id, `${path} ${answer.status} ${answer.text}`)) }
  }
  const seen = async (id: string, what: string) => {
    const [run] = await until(`the span of ${what}`, () => {
      const { runs } = collector.of(id)
      return runs.length > 0 && runs
    })
    return { run: run as SeenSpan, attempts: collector.of(id).attempts }
  }
  const viewOf = async (span: SeenSpan) => {
    const id = String(span.attributes['counterfoil.run.id'])
    return (await t.w.call(`/v1/runs/${id}`, { key: t.secret })).json()
  }

  test('has one span below its caller’s, and one below that for the server that it asked', async () => {
    const all = await Promise.all(
      asked.map(async ({ path, model, body, reason }) => {
        const got = await traced(path, { model, ...body })
        return { got, model, reason, name: `${path} ${model} ${JSON.stringify(body)}` }
      }),
    )
    for (const { got, model, reason, name } of all) {
      const { run, attempts, status, id } = got
      expect([name, status]).toEqual([name, 200])
      const view = await viewOf(run)
      const [upstreamId] = view.route.split(':')
      expect(run).toMatchObject({
        traceId: id,
        parentSpanId: parentId,
        flags: 0x301,
        kind: 2,
        name: `chat ${model}`,
      })
      expect(run.status).toBeUndefined()
      expect([name, run.attributes]).toEqual([
        name,
        {
          'gen_ai.operation.name': 'chat',
          'gen_ai.provider.name': upstreamId,
          'gen_ai.request.model': model,
          'gen_ai.response.model': 'normal',
          'gen_ai.response.id': view.id,
          'gen_ai.response.finish_reasons': [reason],
          'gen_ai.usage.input_tokens': 7,
          'gen_ai.usage.output_tokens': 5,
          'counterfoil.run.id': view.id,
          'counterfoil.run.outcome': 'complete',
          'counterfoil.usage_source': 'reported',
          'counterfoil.cost_nusd': view.cost_nusd,
          'counterfoil.price_list': 'default@1',
        },
      ])
      expect(view.cost_nusd).toBeGreaterThan(0)
      expect(attempts).toHaveLength(1)
      const [attempt] = attempts
      expect(attempt).toMatchObject({
        parentSpanId: run.spanId,
        flags: 0x101,
        name: 'chat normal',
        attributes: {
          'gen_ai.operation.name': 'chat',
          'gen_ai.provider.name': upstreamId,
          'gen_ai.request.model': 'normal',
        },
      })
      expect(attempt?.status).toBeUndefined()
      const within = (a: SeenSpan, b: SeenSpan | undefined) =>
        BigInt(b?.startTimeUnixNano ?? 0) >= BigInt(a.startTimeUnixNano) &&
        BigInt(b?.endTimeUnixNano ?? 0) <= BigInt(a.endTimeUnixNano)
      expect(within(run, attempt)).toBe(true)
    }
    const ids = collector.spans.map(({ spanId }) => spanId)
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('is one of embeddings too, and one in the background', async () => {
    const vector = await traced('/v1/embeddings', { model: 'far/embed', input: said })
    expect(vector.run).toMatchObject({
      name: 'embeddings far/embed',
      attributes: { 'gen_ai.operation.name': 'embeddings', 'gen_ai.usage.output_tokens': 0 },
    })
    const body = { model: 'far/chat', messages, background: true }
    const behind = await traced('/v1/runs', body)
    expect(behind.status).toBe(202)
    expect(behind.run.attributes['counterfoil.run.outcome']).toBe('complete')
    expect(behind.attempts).toHaveLength(1)
  })

  test('has a span for each server that failed, with the reason', async () => {
    const json = { model: 'far/second', messages, max_tokens: 50 }
    const { run, attempts } = await traced('/v1/chat/completions', json)
    expect(attempts.map(({ parentSpanId }) => parentSpanId)).toEqual([run.spanId, run.spanId])
    expect(attempts[0]).toMatchObject({
      status: { code: 2 },
      attributes: {
        'gen_ai.provider.name': 'chat',
        'error.type': 'error',
        'http.response.status_code': 500,
      },
    })
    expect(attempts[1]?.status).toBeUndefined()
    expect(run.attributes['gen_ai.provider.name']).toBe('messages')
    expect(run.status).toBeUndefined()
  })

  test('says how it failed: before any output, and in the middle of it', async () => {
    const json = { model: 'far/none', messages, max_tokens: 50 }
    const none = await traced('/v1/chat/completions', json)
    expect(none.run).toMatchObject({
      status: { code: 2 },
      attributes: {
        'counterfoil.run.outcome': 'failed',
        'counterfoil.cost_nusd': 0,
        'error.type': 'unavailable',
      },
    })
    expect(none.attempts[0]?.attributes).toMatchObject({
      'error.type': 'busy',
      'http.response.status_code': 429,
    })
    expect(Object.keys(none.run.attributes).join()).not.toContain('usage')
    const cut = await traced('/v1/chat/completions', { ...json, model: 'far/cut', stream: true })
    const view = await viewOf(cut.run)
    expect(cut.run).toMatchObject({
      status: { code: 2 },
      attributes: {
        'counterfoil.run.outcome': 'partial',
        'counterfoil.cost_nusd': view.cost_nusd,
        'counterfoil.usage_source': 'counted',
        'error.type': 'upstream_error',
      },
    })
    expect(cut.attempts[0]?.attributes['error.type']).toBe('cut')
  })

  test('is told to the upstreams that are named, and to no others', async () => {
    const from = upstream.calls.length
    const state = { tracestate: 'vendor=1' }
    const json = { model: 'far/second', messages, max_tokens: 50 }
    const { id, attempts, run } = await traced('/v1/chat/completions', json, state)
    const [first, second] = upstream.calls.slice(from).map(({ headers }) => headers)
    expect([first?.['traceparent'], first?.['tracestate']]).toEqual([undefined, undefined])
    expect(second).toMatchObject({
      traceparent: `00-${id}-${attempts[1]?.spanId}-01`,
      tracestate: 'vendor=1',
    })
    expect([run.traceState, attempts[0]?.traceState]).toEqual(['vendor=1', 'vendor=1'])
  })

  test('goes unrecorded where its caller does not sample it, and is told on as it came', async () => {
    const from = upstream.calls.length
    const id = newTrace()
    const traceparent = `00-${id}-${parentId}-00`
    const json = { model: 'far/messages', messages, max_tokens: 50 }
    expect((await t.ask('/v1/messages', json, { traceparent })).status).toBe(200)
    expect(upstream.calls[from]?.headers['traceparent']).toBe(traceparent)
    // What comes later is exported later.
    await traced('/v1/messages', json)
    expect(collector.of(id).runs).toEqual([])
  })

  test('begins a trace of its own where the caller sent none, or one that is not well formed', async () => {
    const before = new Set(collector.spans.map(({ traceId }) => traceId))
    const id = newTrace()
    const bad = [`00-${id}-${parentId}-01-more`, `00-${id}-${'0'.repeat(16)}-01`, `ff-${id}-1-01`]
    for (const traceparent of [undefined, ...bad]) {
      const headers: Record<string, string> = traceparent ? { traceparent } : {}
      const json = { model: 'far/none', messages, max_tokens: 50 }
      expect((await t.ask('/v1/chat/completions', json, headers)).status).toBe(503)
    }
    const own = await until('four traces', () => {
      const runs = collector.spans.filter(({ traceId, kind }) => kind === 2 && !before.has(traceId))
      return runs.length === 4 && runs
    })
    expect(new Set(own.map(({ traceId }) => traceId)).size).toBe(4)
    expect(own.map((span) => [span.parentSpanId, span.flags])).toEqual(
      own.map(() => [undefined, 0x101]),
    )
    expect(collector.of(id).runs).toEqual([])
    // The lines of the log name the trace that was begun.
    const failed = t.w.logged.filter(({ event }) => event === 'upstream.failed')
    const named = failed.map(({ fields }) => (fields as { trace_id?: string }).trace_id)
    expect(named).toEqual(expect.arrayContaining(own.map(({ traceId }) => traceId)))
  })

  promise`E15 H: A collector of traces gets no text, account, key or secret. No run waits for it,
    and a stop half a second.`
  test('exports no text, no secret and no account, and logs no header', () => {
    const sent = collector.requests.map(({ text }) => text).join('\n')
    expect(sent).toContain('gen_ai.request.model')
    const words = [
      said,
      stubWords[1]?.trim() ?? '',
      t.secret,
      testAccount,
      credential,
      'sk-service',
    ]
    for (const word of words) expect(sent.toLowerCase()).not.toContain(word.toLowerCase())
    expect(JSON.stringify(t.w.logged)).not.toContain('collectors-own-secret')
    for (const { path, headers } of collector.requests) {
      expect([path, headers['content-type'], headers.authorization]).toEqual([
        '/v1/traces',
        'application/json',
        credential,
      ])
    }
    const [resource] = collector.resources
    expect(resource).toEqual({
      'service.name': 'counterfoil',
      'service.version': t.w.deps.version.version,
      'service.instance.id': t.w.deps.settings.node,
    })
  })
})
