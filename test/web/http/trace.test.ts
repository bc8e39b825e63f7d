import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readTrace } from '../../../src/kernel/trace.ts'
import { promise } from '../../support/promise.ts'
import { modelsToml, modelToml, upstreamToml } from '../../support/runs.ts'
import { type StubUpstream, startStubUpstream } from '../../support/stub-upstream.ts'
import { usd, type World, world } from '../../support/world.ts'

const id = '4bf92f3577b34da6a3ce929d0e0e4736'
const parent = `00-${id}-00f067aa0ba902b7-01`

describe('a traceparent', () => {
  test('is read as W3C Trace Context has it', () => {
    expect(readTrace(parent, 'a=1,b=2')).toEqual({ id, parent, state: 'a=1,b=2' })
    expect(readTrace(parent, null)).toEqual({ id, parent })
    expect(readTrace(`cc-${id}-00f067aa0ba902b7-01-more`, null)).toEqual({ id, parent })
  })

  const wrong = [
    '',
    id,
    parent.toUpperCase(),
    `${parent}-more`,
    `${parent} `,
    parent.replace('00-', 'ff-'),
    parent.replace(id, '0'.repeat(32)),
    parent.replace('00f067aa0ba902b7', '0'.repeat(16)),
    parent.replace(id, id.slice(1)),
    `cc-${id}-00f067aa0ba902b7-01-${'x'.repeat(600)}`,
    `00-${id}-00f067aa0ba902b7-01\r\nx: y`,
  ]
  test.each(wrong)('The header %j is not a traceparent.', (header) => {
    expect(readTrace(header, 'a=1')).toBeUndefined()
  })

  test('goes on without a tracestate that is too long or no text', () => {
    for (const state of ['x'.repeat(513), 'a=\u0001', 'ü']) {
      expect(readTrace(parent, state)).toEqual({ id, parent })
    }
  })
})

describe('a run that belongs to a trace', () => {
  let upstream: StubUpstream
  let w: World
  let secret: string
  beforeAll(async () => {
    upstream = await startStubUpstream()
    const toml = modelsToml(upstream.url, ['normal', 'status-500'])
    w = await world({
      toml: `[telemetry]\npass_to = ["stub"]\n${toml}${upstreamToml('quiet', upstream.url)}${modelToml('stub/quiet', '"quiet:normal"')}`,
    })
    secret = (await w.key({ balance: usd })).secret
  })
  afterAll(async () => {
    await w.stop()
    await upstream.stop()
  })
  const ask = async (path: string, json: object, headers: Record<string, string>) => {
    const answer = await w.call(path, { key: secret, json, headers })
    const text = await answer.text()
    if (answer.status === 400) throw new Error(text)
    return upstream.calls.at(-1)?.headers ?? {}
  }
  const messages = [{ role: 'user', content: 'hi' }]
  const chat = { model: 'stub/normal', messages, max_tokens: 10 }

  test('hands it on as it came, by every door, to an upstream that pass_to names', async () => {
    const headers = { traceparent: parent, tracestate: 'vendor=1' }
    const native = { model: 'stub/normal', messages, max_output_tokens: 10 }
    const asked = [
      await ask('/v1/chat/completions', chat, headers),
      await ask('/v1/chat/completions', { ...chat, stream: true }, headers),
      await ask('/v1/runs', native, headers),
    ]
    expect(asked).toMatchObject([headers, headers, headers])
  })

  promise`E15`
  test('is not told to an upstream that pass_to does not name', async () => {
    const headers = { traceparent: parent, tracestate: 'vendor=1' }
    const seen = await ask('/v1/chat/completions', { ...chat, model: 'stub/quiet' }, headers)
    expect([seen['traceparent'], seen['tracestate']]).toEqual([undefined, undefined])
  })

  test('hands on nothing that is none, and nothing where nothing came', async () => {
    for (const headers of [{ traceparent: 'mine', tracestate: 'a=1' }, { tracestate: 'a=1' }, {}]) {
      const seen = await ask('/v1/chat/completions', chat, headers as Record<string, string>)
      expect([seen['traceparent'], seen['tracestate']]).toEqual([undefined, undefined])
    }
  })

  test('is named by its trace id in the log', async () => {
    await ask(
      '/v1/chat/completions',
      { ...chat, model: 'stub/status-500' },
      { traceparent: parent },
    )
    const line = w.logged.findLast(({ event }) => event === 'upstream.failed')
    expect(line?.fields).toMatchObject({ trace_id: id, run_id: expect.any(String) })
  })
})
