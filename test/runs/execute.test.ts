import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { onceOf } from '../../src/ledger/once.ts'
import {
  type FailureReason,
  type JsonObject,
  type Upstream,
  UpstreamFailure,
} from '../../src/models/upstream/upstream.ts'
import { begin } from '../../src/runs/begin.ts'
import { complete } from '../../src/runs/complete.ts'
import type { OpenedRun } from '../../src/runs/opening.ts'
import { stream } from '../../src/runs/stream.ts'
import { outcomeOf, rejectionOf } from '../support/rejection.ts'
import { modelToml, upstreamToml } from '../support/runs.ts'
import { usd, type World, world } from '../support/world.ts'

setDefaultTimeout(60_000)

let w: World
beforeAll(async () => {
  const both = ['one', 'two'].map((id) => upstreamToml(id, 'http://127.0.0.1:9')).join('')
  w = await world({ toml: both + modelToml('stub/any', '"one:a", "two:b"') })
})
afterAll(() => w.stop())

let made = 0
async function start(isCall = false) {
  const { key } = await w.key({ balance: usd })
  const [plan] = w.deps.plans.list
  const model = w.deps.catalogue.get('stub/any')
  if (!plan || !model) throw new Error('no plan or model')
  const caller = { account: key.accountId, suspended: false, plan, chain: [key], key }
  const body = { model: model.id, messages: [{ role: 'user', content: 'hi' }], n: 2 }
  const rest = { background: false, tags: {}, metadata: {} }
  const scope = `call ${++made}`
  const once = isCall
    ? onceOf<OpenedRun>(w.deps, { scope, fingerprint: '' }, () => undefined)
    : undefined
  const live = await begin(w.deps, { caller, model, body, received: body, once, ...rest })
  return { live, scope }
}
const chunk = (
  index: number,
  content: string | null,
  reason: string | null = null,
): JsonObject => ({
  choices: [{ index, delta: content === null ? {} : { content }, finish_reason: reason }],
})
const answer = {
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 2, completion_tokens: 3 },
}
/** The service with these in the place of its upstreams, by their names, and who was asked. */
function withUpstreams(parts: Record<string, Partial<Upstream>>) {
  const asked: string[] = []
  const get = (id: string): Upstream | undefined => {
    asked.push(id)
    const part = parts[id]
    const never = () => Promise.reject(new Error('not asked for this'))
    return part && { id, protocol: 'chat', complete: never, stream: never, ...part }
  }
  return { asked, deps: { ...w.deps, upstreams: { ...w.deps.upstreams, get } } }
}
const streamOf = (...batches: JsonObject[][]): Partial<Upstream> => ({
  stream: async () =>
    (async function* () {
      yield* batches
    })(),
})
const sinkOf = () => {
  const sent: JsonObject[] = []
  return { sent, sink: { send: (chunks: JsonObject[]) => void sent.push(...chunks) } }
}
const text = (bytes: Uint8Array | null | undefined) => new TextDecoder().decode(bytes ?? undefined)
const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))

describe('a whole answer', () => {
  test('that comes after the run was stopped is not charged', async () => {
    const { live } = await start()
    const { deps } = withUpstreams({
      one: {
        complete: async () => {
          live.stop('cancelled')
          return answer
        },
      },
    })
    expect(await rejectionOf(complete(deps, live))).toMatchObject({ type: 'conflict' })
    expect(await w.deps.runs.find(live.id)).toMatchObject({ outcome: 'cancelled', cost: 0n })
  })

  test('is kept as it went out, for anyone who asks again', async () => {
    const { live, scope } = await start(true)
    const { deps } = withUpstreams({ one: { complete: async () => answer } })
    await complete(deps, live, {
      done: ({ body, receiptId }) => bytes([body, receiptId]),
      failed: () => bytes('failed'),
    })
    const kept = JSON.parse(text((await w.deps.calls.find(scope))?.reply))
    expect(kept).toEqual([answer, expect.stringMatching(/^rcpt_/)])
  })

  test('whose end cannot be stored is told as that, and its run ends once', async () => {
    const { live } = await start()
    const { deps } = withUpstreams({ one: { complete: async () => answer } })
    const { post } = w.deps.ledger
    let isFull = true
    const ledger: typeof w.deps.ledger = {
      post: (command) => (isFull ? Promise.reject(new Error('no disk')) : post(command)),
    }
    expect(await outcomeOf(complete({ ...deps, ledger }, live))).toThrow('no disk')
    expect(w.deps.live.count()).toBe(0)
    isFull = false
    await w.deps.live.settleAgain()
    expect(await w.deps.runs.find(live.id)).toMatchObject({ outcome: 'failed', cost: 0n })
  })
})

describe('the steps of a route', () => {
  const failing = (error: unknown) => ({ complete: () => Promise.reject(error) })
  test.each([
    ['unreachable', ['one', 'two']],
    ['open', ['one', 'two']],
    ['rejected', ['one']],
    ['aborted', ['one']],
  ] as [FailureReason, string[]][])('behind one that is %s: %p are asked', async (reason, all) => {
    const { live } = await start()
    const two = { complete: async () => answer }
    const { deps, asked } = withUpstreams({ one: failing(new UpstreamFailure(reason)), two })
    const before = w.logged.length
    await complete(deps, live).catch(() => {})
    expect(asked).toEqual(all)
    // One that rests was not asked, and so did not fail once more.
    const failed = w.logged.slice(before).filter(({ event }) => event === 'upstream.failed')
    expect(failed.length).toBe(reason === 'open' ? 0 : 1)
    expect(w.logged.slice(before).some(({ event }) => event === 'run.failed')).toBe(false)
    expect(await w.deps.runs.find(live.id)).toMatchObject({
      outcome: all.length > 1 ? 'complete' : 'failed',
    })
  })

  test('are not gone on with after a bug of ours, which is logged and not told', async () => {
    const { live } = await start()
    const two = { complete: async () => answer }
    const { deps, asked } = withUpstreams({ one: failing(new Error('a secret')), two })
    expect(await rejectionOf(complete(deps, live))).toMatchObject({ type: 'internal_error' })
    expect([asked, w.logged.at(-1)?.event]).toEqual([['one'], 'run.failed'])
    expect((await w.deps.runs.find(live.id))?.error?.message).not.toContain('secret')
  })

  test('that name no one are a bug of ours', async () => {
    const { deps } = withUpstreams({})
    for (const isStream of [false, true]) {
      const { live } = await start()
      const asked = isStream ? stream(deps, live, sinkOf().sink) : complete(deps, live)
      expect(await rejectionOf(asked)).toMatchObject({
        type: 'internal_error',
      })
      expect(String(w.logged.at(-1)?.error)).toContain('names an unknown upstream')
      expect(await w.deps.runs.find(live.id)).toMatchObject({ outcome: 'failed', route: 'one:a' })
    }
  })
})

describe('a stream', () => {
  test('holds back what finishes a choice, and each choice keeps its order', async () => {
    const { live } = await start()
    const both: JsonObject = {
      choices: [
        { index: 0, delta: { content: 'b' }, finish_reason: null },
        { index: 1, delta: { content: 'c' }, finish_reason: null },
      ],
    }
    const mixed: JsonObject = {
      choices: [
        { index: 0, delta: {}, finish_reason: 'stop' },
        { index: 1, delta: { content: 'd' }, finish_reason: null },
      ],
    }
    const batches = [[chunk(0, 'a')], [both], [mixed], [chunk(1, null, 'stop')]]
    const { deps } = withUpstreams({ one: streamOf(...batches) })
    const { sent, sink } = sinkOf()
    const { tail, choices } = await stream(deps, live, sink)
    const deltasOf = (chunks: JsonObject[]) =>
      chunks.map((one) =>
        (one['choices'] as JsonObject[]).map(({ index, delta }) => [index, delta]),
      )
    expect(deltasOf(sent)).toEqual([
      [[0, { content: 'a' }]],
      [
        [0, { content: 'b' }],
        [1, { content: 'c' }],
      ],
      [[1, { content: 'd' }]],
    ])
    expect(deltasOf(tail)).toEqual([[[0, {}]], [[1, {}]]])
    expect(choices.map(({ message }) => message.content)).toEqual(['ab', 'cd'])
  })

  test('sends nothing where there is nothing to send', async () => {
    const { live } = await start()
    const batches = [[{ choices: [] }], [chunk(0, 'a')], [chunk(0, null, 'stop')]]
    const { deps } = withUpstreams({ one: streamOf(...batches) })
    const sizes: number[] = []
    await stream(deps, live, { send: (chunks) => void sizes.push(chunks.length) })
    expect(sizes).toEqual([1])
  })

  test('holds back nothing but what finishes a choice, or comes behind that', async () => {
    const { live } = await start()
    const usage: JsonObject = { choices: [], usage: { prompt_tokens: 2, completion_tokens: 3 } }
    const going = [[chunk(0, null, 'stop')], [chunk(1, 'b')], [usage], [chunk(1, null, 'stop')]]
    const { deps } = withUpstreams({ one: streamOf([chunk(0, 'a')], ...going) })
    const { sent, sink } = sinkOf()
    const { tail, usage: paid } = await stream(deps, live, sink)
    expect([sent.length, tail.length]).toEqual([2, 2])
    expect(paid).toEqual({ inputTokens: 2, outputTokens: 3 })
  })

  test.each([true, false])('whose reader takes nothing ends when it is stopped', async (atOnce) => {
    const { live } = await start()
    const { deps } = withUpstreams({ one: streamOf([chunk(0, 'a')], [chunk(0, 'b')]) })
    const sent = Promise.withResolvers<void>()
    const stuck = {
      send: () => {
        if (atOnce) live.stop('client_gone')
        sent.resolve()
        return new Promise<void>(() => {})
      },
    }
    const asked = stream(deps, live, stuck)
    await sent.promise
    live.stop('client_gone')
    expect(await rejectionOf(asked)).toMatchObject({ type: 'conflict' })
    expect(await w.deps.runs.find(live.id)).toMatchObject({ outcome: 'cancelled' })
  })

  test('that was stopped goes no further, and is charged what it delivered', async () => {
    const { live } = await start()
    const { deps } = withUpstreams({ one: streamOf([chunk(0, 'a')], [chunk(0, 'b')]) })
    const { sent, sink } = sinkOf()
    const stopping = {
      send: (chunks: JsonObject[]) => {
        sink.send(chunks)
        live.stop('cancelled')
      },
    }
    expect(await rejectionOf(stream(deps, live, stopping))).toMatchObject({ type: 'conflict' })
    const run = await w.deps.runs.find(live.id)
    expect([sent.length, run?.outcome, (run?.cost ?? 0n) > 0n]).toEqual([1, 'cancelled', true])
  })

  test('that was stopped at its very end is not a whole answer', async () => {
    const { live } = await start()
    const { deps } = withUpstreams({ one: streamOf([chunk(0, 'a')]) })
    const stopping = { send: () => live.stop('client_gone') }
    expect(await rejectionOf(stream(deps, live, stopping))).toMatchObject({ type: 'conflict' })
    expect(await w.deps.runs.find(live.id)).toMatchObject({ outcome: 'cancelled' })
  })

  test('is kept for whoever asks again: whole, or broken off where that was charged', async () => {
    const keep = {
      done: ({ tail }: { tail: JsonObject[] }) => bytes(['whole', tail.length]),
      failed: ({ type }: { type: string }) => bytes(['broken', type]),
    }
    const keptOf = async (upstream: Partial<Upstream>) => {
      const { live, scope } = await start(true)
      const { deps } = withUpstreams({ one: upstream })
      await stream(deps, live, sinkOf().sink, keep).catch(() => {})
      return JSON.parse(text((await w.deps.calls.find(scope))?.reply) || 'null')
    }
    expect(await keptOf(streamOf([chunk(0, 'a')], [chunk(0, null, 'stop')]))).toEqual(['whole', 1])
    const cut = async function* () {
      yield [chunk(0, 'a')]
      throw new UpstreamFailure('cut')
    }
    expect(await keptOf({ stream: async () => cut() })).toEqual(['broken', 'upstream_error'])
  })

  test('whose end cannot be stored is told as that, and its run ends once', async () => {
    const { live } = await start()
    const { deps } = withUpstreams({ one: streamOf([chunk(0, 'a')], [chunk(0, null, 'stop')]) })
    const ledger = { post: () => Promise.reject(new Error('no disk')) }
    const asked = stream({ ...deps, ledger }, live, sinkOf().sink)
    expect(await outcomeOf(asked)).toThrow('no disk')
    expect(w.deps.live.count()).toBe(0)
  })
})
