import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { modelServer } from '../../../src/models/upstream/model-server.ts'
import {
  type JsonObject,
  plainChunks,
  takeEach,
  type Upstream,
  UpstreamFailure,
} from '../../../src/models/upstream/upstream.ts'
import { fault, promise } from '../../support/promise.ts'
import { rejectionOf } from '../../support/rejection.ts'
import {
  type StubUpstream,
  startStubUpstream,
  stubUsage,
  stubWords,
} from '../../support/stub-upstream.ts'

const apiKey = 'sk-upstream-secret'
let stub: StubUpstream
let upstream: Upstream

beforeEach(async () => {
  stub = await startStubUpstream({ apiKey })
  const limits = { firstByteMs: 1000, idleMs: 400 }
  upstream = modelServer({ id: 'stub', baseUrl: stub.url, apiKey, limits })
})

afterEach(() => stub.stop())

const never = new AbortController().signal

function complete(model: string) {
  return upstream.complete({
    kind: 'chat',
    account: 'a',
    body: { model, messages: [] },
    signal: never,
  })
}

function stream(model: string, signal = never) {
  return upstream.stream({ kind: 'chat', account: 'a', body: { model, messages: [] }, signal })
}

/** Everything a stream gives, and the reason it ended for when it broke. */
async function readAll(model: string) {
  const chunks: JsonObject[] = []
  try {
    for await (const batch of await stream(model)) chunks.push(...plainChunks(batch))
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error
    return { chunks, text: textOf(chunks), reason: error.reason }
  }
  return { chunks, text: textOf(chunks), reason: undefined }
}

function textOf(chunks: JsonObject[]): string {
  const deltas = chunks.map((chunk) => JSON.stringify(chunk['choices']))
  return deltas.map((delta) => /"content":"([^"]*)"/.exec(delta)?.[1] ?? '').join('')
}

async function failureOf(work: Promise<unknown>): Promise<UpstreamFailure> {
  const error = await work.catch((reason: unknown) => reason)
  if (error instanceof UpstreamFailure) return error
  throw new Error('it did not fail as an upstream does')
}

async function until(isTrue: () => boolean): Promise<void> {
  for (let i = 0; i < 400 && !isTrue(); i++) await Bun.sleep(5)
}

describe('what is sent', () => {
  test('a chat goes to chat/completions with the key, its answer comes back parsed', async () => {
    const answer = await complete('normal')
    expect(answer).toMatchObject({ object: 'chat.completion', usage: stubUsage })
    expect(stub.calls).toMatchObject([
      {
        path: '/v1/chat/completions',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: { model: 'normal', messages: [] },
      },
    ])
  })

  test('an embedding goes to embeddings', async () => {
    const body = { model: 'normal', input: ['a', 'b'] }
    const answer = await upstream.complete({ kind: 'embedding', account: 'a', body, signal: never })
    expect(answer['data']).toHaveLength(2)
    expect(stub.calls[0]?.path).toBe('/v1/embeddings')
  })

  test('a stream always asks for the usage', async () => {
    await readAll('normal')
    expect(stub.calls[0]?.body).toEqual({
      model: 'normal',
      messages: [],
      stream: true,
      stream_options: { include_usage: true },
    })
  })

  test('without a key there is no Authorization; base_url may hold a slash, a query', async () => {
    const open = await startStubUpstream()
    const baseUrl = `${open.url}/?api-version=1`
    const body = { model: 'normal' }
    await modelServer({ id: 'x', baseUrl }).complete({
      kind: 'chat',
      account: 'a',
      body,
      signal: never,
    })
    await open.stop()
    expect(open.calls[0]?.path).toBe('/v1/chat/completions?api-version=1')
    expect(open.calls[0]?.headers.authorization).toBeUndefined()
  })

  test('a base_url that is none, or holds a password, is refused and not repeated', () => {
    for (const baseUrl of ['ftp://host/v1', 'host', 'https://me:hunter2@host/v1']) {
      const make = () => modelServer({ id: 'x', baseUrl })
      expect(make).toThrow(/^the base_url of upstream "x" (is not|holds)/)
      expect(make).not.toThrow(/hunter2/)
    }
  })
})

describe('answers that are none', () => {
  const statuses: [status: number, reason: UpstreamFailure['reason']][] = [
    [400, 'rejected'],
    [404, 'rejected'],
    [413, 'context'],
    [422, 'rejected'],
    [401, 'denied'],
    [403, 'denied'],
    [302, 'error'],
    [500, 'error'],
    [502, 'error'],
    [504, 'error'],
    [429, 'busy'],
    [503, 'busy'],
  ]
  for (const [status, reason] of statuses) {
    test(`${status} is ${reason}, for a plain answer and for a stream`, async () => {
      expect(await failureOf(complete(`status-${status}`))).toMatchObject({ reason, status })
      expect(await failureOf(stream(`status-${status}`))).toMatchObject({ reason, status })
    })
  }

  for (const model of ['text', 'shape']) {
    test(`An answer that is not a completion is an error: ${model}.`, async () => {
      expect(await failureOf(complete(model))).toMatchObject({ reason: 'error' })
      expect(await failureOf(stream(model))).toMatchObject({ reason: 'error' })
    })
  }

  promise`D18 C: Error texts of an upstream are never passed on.`
  test('nothing that an upstream says is repeated', async () => {
    for (const call of [complete('leak'), stream('leak'), stream('fault-0')]) {
      const failure = await failureOf(call)
      expect(failure.reason).toBe('error')
      expect(Bun.inspect(failure)).not.toContain('sk-upstream')
    }
  })

  test('an embedding list of the wrong shape is an error', async () => {
    const body = { model: 'shape', input: 'a' }
    const call = upstream.complete({ kind: 'embedding', account: 'a', body, signal: never })
    expect(await failureOf(call)).toMatchObject({ reason: 'error' })
  })
})

describe('streams', () => {
  test('a whole one gives its chunks in order, the usage last', async () => {
    const { chunks, text, reason } = await readAll('normal')
    expect({ text, reason }).toEqual({ text: stubWords.join(''), reason: undefined })
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: stubUsage })
  })

  test('one that finishes every choice and closes without [DONE] is whole', async () => {
    expect(await readAll('undone')).toMatchObject({ text: stubWords.join(''), reason: undefined })
  })

  for (const way of ['cut', 'reset'] as const) {
    promise`D12`
    test(`one that ends after k words is cut, and the k words are there: ${way}`, async () => {
      for (const k of [1, 2, 4]) {
        const { text, reason } = await readAll(`${way}-${k}`)
        expect({ text, reason }).toEqual({ text: stubWords.slice(0, k).join(''), reason: 'cut' })
      }
    })
  }

  const faults: [model: string, reason: UpstreamFailure['reason']][] = [
    ['fault', 'error'],
    ['broken', 'error'],
    ['stall', 'timeout'],
  ]
  for (const [model, reason] of faults) {
    test(`${model} after k words: the k words, then ${reason}`, async () => {
      const text = stubWords.slice(0, 2).join('')
      expect(await readAll(`${model}-2`)).toMatchObject({ text, reason })
    })
  }

  fault`24`
  test('one that breaks before its first chunk rejects, so that another can be tried', async () => {
    for (const model of ['cut-0', 'reset-0', 'fault-0', 'broken-0']) {
      expect(await failureOf(stream(model))).toMatchObject({ reason: 'error' })
    }
    expect(await failureOf(stream('stall-0'))).toMatchObject({ reason: 'timeout' })
  })

  test('two choices are whole when both finished, cut when one did', async () => {
    const chunk = (index: number, finish_reason: string | null) =>
      `data: ${JSON.stringify({ choices: [{ index, delta: {}, finish_reason }] })}\n\n`
    const whole = chunk(0, null) + chunk(1, null) + chunk(0, 'stop') + chunk(1, 'stop')
    for (const [text, reason] of [
      [whole, undefined],
      [whole.slice(0, -20), 'cut'],
      [chunk(0, null) + chunk(1, null) + chunk(0, 'stop'), 'cut'],
      [`${chunk(0, 'stop')}data: {"choices":[7]}\n\n`, 'error'],
      [`${chunk(0, 'stop')}data: [1]\n\n`, 'error'],
    ] as const) {
      const server = await startStubUpstream({ handler: (_, response) => void response.end(text) })
      upstream = modelServer({ id: 'x', baseUrl: server.url })
      expect((await readAll('x')).reason).toBe(reason)
      await server.stop()
    }
  })

  test('an abort ends it at once, here and at the upstream', async () => {
    const caller = new AbortController()
    const chunks = await stream('slow', caller.signal)
    const work = (async () => {
      for await (const _ of chunks) if (!caller.signal.aborted) caller.abort()
    })()
    expect(await failureOf(work)).toMatchObject({ reason: 'aborted' })
    await until(() => stub.counts.active === 0)
    expect(stub.counts).toMatchObject({ active: 0, cut: 1 })
  })

  test('leaving the loop, or never entering it, closes the connection too', async () => {
    for await (const _ of await stream('slow')) break
    const unread = await stream('slow')
    await unread[Symbol.asyncIterator]().return?.()
    await until(() => stub.counts.active === 0)
    expect(stub.counts).toMatchObject({ active: 0, cut: 2 })
  })

  test('a fault of a taker, at the first batch or later, closes it', async () => {
    const fault = new Error('a fault')
    for (const good of [0, 1]) {
      let taken = 0
      const taking = takeEach(await stream('slow'), () => {
        if (taken++ === good) throw fault
        return true
      })
      expect(await rejectionOf(taking)).toBe(fault)
    }
    await until(() => stub.counts.active === 0)
    expect(stub.counts).toMatchObject({ active: 0, cut: 2 })
  })

  promise`K20`
  test('100 at once, each aborted at another moment, leave nothing behind', async () => {
    const work = Array.from({ length: 100 }, async (_, i) => {
      const caller = new AbortController()
      setTimeout(() => caller.abort(), i % 40)
      for await (const _ of await stream('slow', caller.signal));
    })
    const reasons = await Promise.all(work.map(failureOf))
    expect(new Set(reasons.map(({ reason }) => reason))).toEqual(new Set(['aborted']))
    await until(() => stub.counts.active === 0)
    expect(stub.counts.active).toBe(0)
  })
})
