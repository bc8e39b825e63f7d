import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sponsorAccount } from '../../../src/access/accounts/account.ts'
import { promise } from '../../support/promise.ts'
import { chunkOf, everythingWritten, expectSettled, lastRun, until } from '../../support/runs.ts'
import { failedIn, sharesOf, type Verdict } from '../../support/sharing.ts'
import { type StubUpstream, startStubUpstream, stubWords } from '../../support/stub-upstream.ts'
import { engines, type World, world } from '../../support/world.ts'
import { believed, events, noon, pricedToml, type Result, refusal, run, send } from './support.ts'

const echo = 'counterfoil/echo-1'
/** A client for each test, so that none uses up another's asks. */
let clients = 0
const guest = () => `198.51.100.${++clients}`

describe.each(engines)('ask, on %s', (engine) => {
  let stub: StubUpstream
  let w: World
  beforeAll(async () => {
    stub = await startStubUpstream()
    const names = ['normal', 'status-500', 'cut-2', 'slow']
    const toml = believed + pricedToml(stub.url, 1_000_000_000, names)
    w = await world({ engine, toml, now: noon })
  }, 60_000)
  afterAll(async () => {
    await w?.stop()
    await stub?.stop()
  })

  test('answers in lines, as a run, with what is left of the day', async () => {
    const from = guest()
    const result = await run(w, 'ask Why?', from)
    expect(result.lines[0]).toBe(stubWords.join(''))
    expect(result.data).toMatchObject({ object: 'run', model: 'stub/normal', outcome: 'complete' })
    expect(result.allowance).toEqual({ remaining: 9, resets_at: '2026-06-16T00:00:00.000Z' })
    expect((await run(w, 'help', from)).allowance.remaining).toBe(9)
    expect((await lastRun(w)).accountId).toBe(sponsorAccount)
    await expectSettled(w)
  })

  test('leaves a receipt that anyone with its id opens and verifies; not who paid, no text', async () => {
    const answer = await send(w, { input: 'What is in it?', model: echo }, guest())
    const { receipt, lines }: Result = await answer.json()
    expect(answer.headers.get('x-receipt-id')).toBe(receipt?.id ?? '')
    expect(lines.at(-1)).toContain(`Receipt ${receipt?.id}, $0.00`)
    const file = await (await w.call(`/v1/receipts/${receipt?.id}`)).json()
    expect(file.receipt.subject).toEqual({ $hash: expect.any(String) })
    expect(file.receipt.run.model).toBe(echo)
    expect(file.receipt.content.input).toStartWith('0x')
    expect(file.disclosures).toBeUndefined()
    expect(JSON.stringify(file)).not.toContain('What is in it?')
    const verified = await w.call('/v1/receipts/verify', { json: file })
    const verdict: Verdict = await verified.json()
    expect([verdict.valid, failedIn(verdict)]).toEqual([true, []])
    const page = await w.call(`/receipts/${receipt?.id}`)
    expect([page.status, page.headers.get('x-robots-tag')]).toEqual([200, 'noindex'])
    const share = (await sharesOf(w)).find((one) => one.receiptId === receipt?.id)
    expect(share).toMatchObject({ visibility: 'unlisted', revealed: {} })
  })

  test('streams: it started, the text as it comes, the whole result', async () => {
    const from = guest()
    const answer = await send(w, { command: 'ask Why?', stream: true }, from)
    expect(answer.headers.get('content-type')).toStartWith('text/event-stream')
    const all = await events(answer)
    expect(all[0]?.type).toBe('run.started')
    expect(all.map(({ text }) => text ?? '').join('')).toBe(stubWords.join(''))
    const { result } = all.at(-1) ?? {}
    expect(result?.lines[0]).toBe(stubWords.join(''))
    expect(result?.receipt?.id).toBe(answer.headers.get('x-receipt-id') ?? '')
    expect(result?.allowance.remaining).toBe(9)
  })

  promise`J4`
  test('at most 256 tokens of an answer, 2 KiB of a question', async () => {
    const from = guest()
    await run(w, 'ask Why?', from)
    expect(stub.calls.at(-1)?.body['max_tokens']).toBe(256)
    const much = 'ä'.repeat(1024)
    expect((await send(w, { input: much, model: echo }, from)).status).toBe(200)
    const { status, error } = await refusal(w, { input: `${much}x`, model: echo }, from)
    expect([status, error.param]).toEqual([400, 'input'])
    expect((await run(w, 'help', from)).allowance.remaining).toBe(8)
  })

  promise`J4`
  test('only models that are opened to it: others are refused, and cost no ask', async () => {
    const from = guest()
    const closed = await refusal(w, { input: 'x', model: 'counterfoil/embed-1' }, from)
    expect([closed.status, closed.error.type]).toEqual([403, 'model_not_allowed'])
    const absent = await refusal(w, { input: 'x', model: 'a/b' }, from)
    expect([absent.status, absent.error.type]).toEqual([404, 'model_not_found'])
    expect((await run(w, 'help', from)).allowance.remaining).toBe(10)
  })

  test('a server that fails costs no one anything, and the ask is given back', async () => {
    const from = guest()
    const { status, error } = await refusal(w, { input: 'x', model: 'stub/status-500' }, from)
    expect([status, error.type]).toEqual([502, 'upstream_error'])
    expect((await run(w, 'help', from)).allowance.remaining).toBe(10)
    await expectSettled(w)
  })

  test('one that breaks off is told in band with its receipt, and counts', async () => {
    const from = guest()
    const asked = { input: 'x', model: 'stub/cut-2', stream: true }
    const all = await events(await send(w, asked, from))
    const { error } = all.at(-1) ?? {}
    expect(error).toMatchObject({ type: 'upstream_error', metadata: { outcome: 'partial' } })
    const id = error?.metadata?.['receipt_id']
    expect((await w.call(`/v1/receipts/${id}`)).status).toBe(200)
    expect((await run(w, 'help', from)).allowance.remaining).toBe(9)
    await expectSettled(w)
  })

  test('two at once of a client; a client that hangs up stops the model, and has asked', async () => {
    const from = guest()
    const aborts = [new AbortController(), new AbortController()]
    const slow = { input: 'x', model: 'stub/slow', stream: true }
    const open = aborts.map(({ signal }) =>
      w.call('/v1/terminal/run', { json: slow, signal, headers: { 'x-forwarded-for': from } }),
    )
    await Promise.all(open)
    const third = await refusal(w, { input: 'x', model: echo }, from)
    expect([third.status, third.error.type]).toEqual([429, 'concurrency_limited'])
    expect((await run(w, 'ask x', guest())).allowance.remaining).toBe(9)
    for (const abort of aborts) abort.abort()
    await until('the runs to be stopped', () => w.deps.live.count() === 0)
    await until('the places to be free', async () => {
      return (await send(w, { input: 'x', model: echo }, from)).status === 200
    })
    expect((await run(w, 'help', from)).allowance.remaining).toBe(7)
    await expectSettled(w)
  })

  promise`K19`
  test('nothing that is stored says who asked, or what', async () => {
    await run(w, 'ask an unmistakable question', '203.0.113.77')
    const written = await everythingWritten(w)
    expect(written).not.toContain('203.0.113.77')
    expect(written).not.toContain('unmistakable')
  })
})

test('reasoning, calls and images are named in lines, in a stream and in a whole answer', async () => {
  const bad = 'now\u001b[2J\u202e'
  const stub = await startStubUpstream({
    handler(_, response) {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const say = (delta: object) => response.write(chunkOf(delta))
      say({ reasoning_content: 'One \u001b[2J two.' })
      say({ tool_calls: [{ index: 0, id: 'c', function: { name: bad, arguments: '{}' } }] })
      say({ images: [{ type: 'image_url', image_url: { url: 'https://h.example/a.png' } }] })
      response.end(`${chunkOf({}, 'stop')}data: [DONE]\n\n`)
    },
  })
  const toml = believed + pricedToml(stub.url, 1_000_000_000, ['normal'])
  const w = await world({ toml, now: noon })
  try {
    const lines = [
      '(Reasoning, 3 words, not shown here)',
      '(Calls the tool "now\\u{1b}[2J\\u{202e}", which the terminal does not run)',
      '(Image 1 of the answer, not shown here)',
      '',
    ]
    const result = await run(w, 'ask Why?', `198.51.100.${++clients}`)
    expect(result.lines.slice(0, -1)).toEqual(lines)
    const told = await events(
      await send(w, { input: 'Why?', stream: true }, `198.51.100.${++clients}`),
    )
    expect(told.map(({ type }) => type)).toEqual(['run.started', 'run.completed'])
    expect(told.at(-1)?.result?.lines.slice(0, -1)).toEqual(lines)
    await expectSettled(w)
  } finally {
    await w.stop()
    await stub.stop()
  }
})

promise`J4`
test('eight at once of all: the ninth is 503 and says when to come again', async () => {
  const stub = await startStubUpstream()
  const toml = believed + pricedToml(stub.url, 1_000_000_000, ['slow'])
  const w = await world({ toml })
  const abort = new AbortController()
  const slow = { input: 'x', stream: true }
  const ask = (i: number) =>
    w.call('/v1/terminal/run', {
      json: slow,
      signal: abort.signal,
      headers: { 'x-forwarded-for': `192.0.2.${i}` },
    })
  await Promise.all(Array.from({ length: 8 }, (_, i) => ask(i)))
  const { status, error, retryAfter } = await refusal(w, { input: 'x' }, '192.0.2.99')
  expect([status, error.type, retryAfter]).toEqual([503, 'unavailable', '2'])
  abort.abort()
  await until('the runs to be stopped', () => w.deps.live.count() === 0)
  await w.stop()
  await stub.stop()
})
