import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { modelServer } from '../../../src/models/upstream/model-server.ts'
import { keyIds, openKeyPool } from '../../../src/models/upstream/open-key-pool.ts'
import {
  type SentMark,
  type Upstream,
  UpstreamFailure,
} from '../../../src/models/upstream/upstream.ts'
import { seeded } from '../../support/seeded.ts'
import { type StubUpstream, startStubUpstream } from '../../support/stub-upstream.ts'

const said = { role: 'assistant', content: 'Hi.' }
const good = { choices: [{ index: 0, message: said, finish_reason: 'stop' }] }

/** What the stub answers to each key: a status, and the seconds of Retry-After. */
type KeyAnswer = { status: number; after?: number; message?: string }

let now = 0
let answers: Record<string, KeyAnswer> = {}
let asked: string[] = []
let rests: { key: string; model: string; status: number; forMs: number }[] = []
let stub: StubUpstream
let upstream: Upstream

const keysOf = (weights: Record<string, number>) =>
  Object.entries(weights).map(([key, weight]) => ({ name: key.toUpperCase(), key, weight }))

const states = new Map()
function open(weights: Record<string, number>) {
  const pool = openKeyPool({ id: 'many' }, keysOf(weights), {
    states,
    clock: { monotonic: () => now },
    random: seeded(7),
    tell: (rest) => void rests.push(rest),
  })
  return modelServer({ id: 'many', baseUrl: stub.url, pool })
}

beforeEach(async () => {
  now = 1_000_000
  answers = {}
  asked = []
  rests = []
  states.clear()
  stub = await startStubUpstream({
    handler({ headers }, response) {
      const key = headers.authorization?.slice('Bearer '.length) ?? ''
      asked.push(key)
      const { status, after, message = `no ${key}` } = answers[key] ?? { status: 200 }
      if (after !== undefined) response.setHeader('retry-after', String(after))
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(status === 200 ? good : { error: { message } }))
    },
  })
  upstream = open({ 'key-a': 1, 'key-b': 1 })
})
afterEach(() => stub.stop())

const signal = new AbortController().signal

async function ask(key?: string, mark?: SentMark, model = 'm'): Promise<string> {
  asked = []
  const body = { model, messages: [] }
  await upstream.complete({
    ...{ kind: 'chat', account: 'a', body, signal, mark },
    ...(key === undefined ? {} : { key }),
  })
  return asked.join(' ')
}

async function failure(model = 'm'): Promise<UpstreamFailure> {
  const error = await ask(undefined, undefined, model).catch((reason: unknown) => reason)
  if (error instanceof UpstreamFailure) return error
  throw new Error('it did not fail as an upstream does')
}

describe('several keys of an upstream', () => {
  test('share its requests by their weights', async () => {
    upstream = open({ 'key-a': 3, 'key-b': 1 })
    let ofA = 0
    for (let i = 0; i < 400; i++) if ((await ask()) === 'key-a') ofA++
    expect(ofA).toBeGreaterThan(270)
    expect(ofA).toBeLessThan(330)
  })

  for (const status of [401, 402, 403, 429]) {
    test(`let one rest that answers ${status}, and another serves the same request`, async () => {
      answers['key-a'] = { status }
      const seen = new Set<string>()
      for (let i = 0; i < 20; i++) seen.add(await ask())
      expect([...seen].sort()).toEqual(['key-a key-b', 'key-b'])
      expect(rests).toEqual([
        { key: 'KEY-A', model: 'm', status, forMs: status === 429 ? 1000 : 30_000 },
      ])
      const [a, b] = upstream.keys?.() ?? []
      expect(a?.status).toBe(status === 429 ? 'limited' : 'denied')
      expect(b?.status).toBe('ok')
    })
  }

  test('have ids that tell which states are of no use after a reload', () => {
    open({ 'key-a': 1, 'key-c': 1 })
    const kept = keyIds('many', [{ key: 'key-a' }, { key: 'key-b' }])
    expect(states.size).toBe(3)
    expect([...states.keys()].filter((id) => kept.includes(id))).toHaveLength(2)
  })

  test('rest as long as they are told, else twice as long each time, until one is taken', async () => {
    answers = { 'key-a': { status: 429, after: 7200 }, 'key-b': { status: 429 } }
    expect((await failure()).retryAfterMs).toBe(1000)
    for (const forMs of [2000, 4000, 8000]) {
      now += forMs / 2
      expect((await failure()).retryAfterMs).toBe(forMs)
      expect(asked).toEqual(['key-b'])
    }
    now += 8000
    answers['key-b'] = { status: 200 }
    expect(await ask()).toBe('key-b')
    answers['key-b'] = { status: 429 }
    expect((await failure()).retryAfterMs).toBe(1000)
    now += 1000
    answers['key-b'] = { status: 429, after: 7200 }
    // Clients hear of a minute at most, however long the rest is.
    expect(await failure()).toMatchObject({ reason: 'limited', retryAfterMs: 60_000 })
    expect(rests.at(-1)?.forMs).toBe(7_200_000)
  })

  test('fail as limited while any rests after 429, else as denied', async () => {
    answers = { 'key-a': { status: 401 }, 'key-b': { status: 429, after: 5 } }
    expect(await failure()).toMatchObject({ reason: 'limited', retryAfterMs: 5000 })
    now += 1000
    expect(await failure()).toMatchObject({ reason: 'limited', retryAfterMs: 4000 })
    expect(asked).toEqual([])
    now += 4000
    answers['key-b'] = { status: 401 }
    expect(await failure()).toMatchObject({ reason: 'denied', status: 401 })
    // None is asked while all rest.
    expect(await failure()).toMatchObject({ reason: 'denied', status: undefined })
    expect(asked).toEqual([])
    expect(upstream.keys?.().map(({ status }) => status)).toEqual(['denied', 'denied'])
  })

  test('rest for the model alone that was asked', async () => {
    answers = { 'key-a': { status: 429 }, 'key-b': { status: 429 } }
    await failure('one')
    answers = {}
    expect((await failure('one')).reason).toBe('limited')
    expect(await ask(undefined, undefined, 'other')).toMatch(/^key-[ab]$/)
  })

  test('are not laid to rest by a request that all of them refuse', async () => {
    for (const one of [
      { status: 402 },
      { status: 403 },
      { status: 429, message: 'Request too large for this model.' },
    ]) {
      answers = { 'key-a': one, 'key-b': one }
      expect((await failure()).status).toBe(one.status)
      answers = {}
      await ask()
    }
    answers = { 'key-a': { status: 403, message: 'flagged by moderation' } }
    answers['key-b'] = answers['key-a'] ?? { status: 403 }
    expect((await failure()).reason).toBe('rejected')
    expect(asked).toHaveLength(1)
    expect(rests).toEqual([])
  })

  test('are asked no further once the client is gone', async () => {
    answers = { 'key-a': { status: 429 }, 'key-b': { status: 429 } }
    const mark = { isSent: false, isLeft: () => true }
    expect(await ask(undefined, mark).catch(() => asked)).toHaveLength(1)
    expect(mark.isSent).toBe(true)
  })

  test('serve a conversation by the key that has its cache, while it does not rest', async () => {
    const mark: SentMark = { isSent: false }
    const first = await ask(undefined, mark)
    for (let i = 0; i < 10; i++) expect(await ask(mark.key)).toBe(first)
    answers[first] = { status: 429 }
    expect(await ask(mark.key, mark)).toMatch(/ key-[ab]$/)
    expect(await ask(mark.key)).toBe(asked.join(' '))
    expect(asked).not.toContain(first)
  })

  test('keep their rests where the configuration is read again', async () => {
    answers = { 'key-a': { status: 401 } }
    for (let i = 0; i < 10; i++) await ask()
    upstream = open({ 'key-c': 1, 'key-a': 1000 })
    for (let i = 0; i < 10; i++) expect(await ask()).toBe('key-c')
  })

  test('never show in the words of the server', async () => {
    const message = 'key-a and key-b are not for key-a'
    answers = { 'key-a': { status: 400, message }, 'key-b': { status: 400, message } }
    expect((await failure()).words?.message).toBe(
      '[redacted] and [redacted] are not for [redacted]',
    )
  })

  test('are one after another asked for a stream that names its error in band', async () => {
    await using told = await startStubUpstream({
      handler({ headers }, response) {
        const isA = headers.authorization === 'Bearer key-a'
        asked.push(isA ? 'key-a' : 'key-b')
        const delta = { choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }] }
        const event = isA ? { error: { code: 429, message: 'slow down' } } : delta
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.end(`data: ${JSON.stringify(event)}\n\ndata: [DONE]\n\n`)
      },
    })
    const pool = openKeyPool({ id: 'told' }, keysOf({ 'key-a': 1000, 'key-b': 1 }), {
      states,
      clock: { monotonic: () => now },
      random: () => 0,
      tell: () => {},
    })
    const body = { model: 'm', messages: [] }
    const one = modelServer({ id: 'told', baseUrl: told.url, pool })
    const chunks = await one.stream({ kind: 'chat', account: 'a', body, signal })
    for await (const _ of chunks);
    expect(asked).toEqual(['key-a', 'key-b'])
  })
})
