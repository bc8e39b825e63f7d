import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/kernel/json-object.ts'
import type { RunRow } from '../../src/storage/db/schema/schema.ts'
import { nameOf, type Pair, pairs, runsBefore, wires } from '../support/doors.ts'
import { promise } from '../support/promise.ts'
import { expectSettled, lastRun, modelToml, until, upstreamToml } from '../support/runs.ts'
import { speechAt } from '../support/stub-speech.ts'
import { type StubHandler, type StubUpstream, startStubUpstream } from '../support/stub-upstream.ts'
import { usd, type World, world } from '../support/world.ts'

/** Of an answer with a word, a long thought that is not shown, and a tail. */
const written = 800
const tail = Array.from({ length: 20 }, (_, at) => `and word ${at} `)

const usageOf = (completion_tokens: number): JsonObject => ({
  prompt_tokens: 31,
  completion_tokens,
  completion_tokens_details: { reasoning_tokens: completion_tokens - 100 },
})

/** What the server waits for after its first word. */
let thought = Promise.withResolvers<void>()

/** A model is called by what it does: it thinks, thinks for ever, breaks, or tells too much. */
const handler: StubHandler = async ({ path, body }, response) => {
  const model = String(body['model'])
  const usage = usageOf(model === 'boasting' ? 9_000_000 : written)
  const speech = speechAt(path, model)
  if (body['stream'] !== true) {
    await thought.promise
    response.writeHead(200, { 'content-type': 'application/json' })
    return void response.end(JSON.stringify(speech.whole('Yes.', usage)))
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(speech.begin(usage) + (model === 'silent' ? '' : speech.word('Yes. ')))
  await thought.promise
  if (model === 'silent' || model === 'endless') return
  response.write(tail.map((word) => speech.word(word)).join(''))
  await Bun.sleep(20)
  if (model === 'breaking') return void response.destroy()
  response.end(speech.end(usage).join('') + speech.done(usage))
}

const reasoning = 'features = ["reasoning", "streaming"]'
const kinds: [model: string, upstreamName: string, more: string][] = [
  ['thinker', 'thinking', reasoning],
  ['plain', 'thinking', ''],
  ['taught', 'thinking', ''],
  ['cut', 'thinking', `${reasoning}\non_disconnect = "cut"`],
  ['kept', 'thinking', 'on_disconnect = "drain"'],
  ['endless', 'endless', reasoning],
  ['silent', 'silent', reasoning],
  ['breaking', 'breaking', reasoning],
  ['boasting', 'boasting', reasoning],
]

let stub: StubUpstream
let w: World
let secret: string
let keyId: string

beforeAll(async () => {
  stub = await startStubUpstream({ handler })
  const toml = wires.map(
    (wire) =>
      upstreamToml(wire, stub.url, `kind = "${wire}"\nbreaker_failures = 0\nmax_in_flight = 9`) +
      kinds
        .map(([name, at, more]) => modelToml(`${wire}/${name}`, `"${wire}:${at}"`, more))
        .join(''),
  )
  w = await world({ toml: `[limits]\ndrain_s = 1\n${toml.join('')}` })
  const made = await w.key({ balance: 1000n * usd })
  secret = made.secret
  keyId = made.key.id
})
afterAll(async () => {
  await expectSettled(w)
  await w.stop()
  await stub.stop()
})
beforeEach(() => {
  thought = Promise.withResolvers()
})

type Way = { pair: Pair; name: string; stream?: boolean; more?: JsonObject }

const send = ({ pair, name, stream = true, more }: Way, signal?: AbortSignal) => {
  const model = `${pair.wire}/${name}`
  const body = pair.door.body({ model, text: 'Say yes, then think.', stream, most: 900 })
  return w.call(pair.door.path, {
    key: secret,
    json: { ...body, ...more },
    ...(signal ? { signal } : {}),
  })
}

async function toTheEnd(way: Way): Promise<RunRow> {
  thought.resolve()
  await (await send(way)).text()
  return await lastRun(w)
}

/** Leaves at the first word, or while a whole answer is made; the server goes on after that. */
async function leave(way: Way): Promise<void> {
  thought = Promise.withResolvers()
  const gone = new AbortController()
  const asked = stub.counts.requests
  const answer = send(way, gone.signal)
  try {
    if (way.stream === false || way.name === 'silent') {
      await until('the server to be asked', () => stub.counts.requests > asked)
      // Long enough for the run to know that its request was sent.
      await until('the run to be sent', () => w.deps.live.all()[0]?.isSent)
      gone.abort()
    }
    let text = ''
    for await (const piece of (await answer).body ?? []) {
      text += new TextDecoder().decode(piece)
      if (text.includes('Yes.')) gone.abort()
    }
  } catch {
    // It left.
  }
  await until('the run to be alone', () => w.deps.live.all().every(({ isDraining }) => isDraining))
  thought.resolve()
}

async function hangUp(way: Way): Promise<RunRow> {
  await leave(way)
  await until('the run to end', () => w.deps.live.count() === 0, 10_000)
  return await lastRun(w)
}

/** The server is let go, and its places are free. */
async function expectFree(): Promise<void> {
  await until('the server to be let go', () => stub.counts.active === 0)
  for (const wire of wires) expect(w.deps.upstreams.get(wire)?.load?.().taken).toBe(0)
}

const share = (left: RunRow, finished: RunRow): number => Number(left.cost) / Number(finished.cost)
const unitsOf = ({ lines }: RunRow, meter: string): number =>
  lines.find((line) => line.meter === meter)?.quantity ?? 0

const ways = [...pairs, runsBefore].map((pair): [string, Pair] => [nameOf(pair), pair])
const [chat] = pairs as [Pair]

describe.each(ways)('a client of %s that hangs up', (_, pair) => {
  promise`T1 C: Hanging up on a model that reasons unseen costs at least nine tenths of the whole
    answer, never more than the hold.`
  test.each([true, false])(
    'at the first word of a model that reasons pays what the end costs (streamed: %p)',
    async (stream) => {
      const way = { pair, name: 'thinker', stream }
      const finished = await toTheEnd(way)
      const left = await hangUp(way)
      expect(share(left, finished)).toBeGreaterThanOrEqual(0.9)
      expect(left.cost).toBeLessThanOrEqual(left.hold)
      expect([left.outcome, left.usageSource]).toEqual(['cancelled', 'reported'])
      expect(left.error?.message).toContain('read to the end')
      await expectFree()
    },
  )

  test('on a model that does not reason stops its server and pays for what came', async () => {
    const left = await hangUp({ pair, name: 'plain' })
    expect(unitsOf(left, 'output')).toBeLessThan(10)
    await until('the server to be cut off', () => stub.counts.active === 0, 1000)
  })

  test('pays for reasoning that its request asks for', async () => {
    const asks: Record<string, JsonObject> = {
      chat: { reasoning_effort: 'high' },
      messages: { thinking: { type: 'adaptive' } },
      responses: { reasoning: { effort: 'high' } },
      runs: { params: { reasoning_effort: 'high' } },
    }
    const way = { pair, name: 'plain', more: asks[pair.door.name] ?? {} }
    const finished = await toTheEnd(way)
    expect(share(await hangUp(way), finished)).toBeGreaterThanOrEqual(0.9)
  })
})

describe('an answer that is read on without a reader', () => {
  test('is so for a model that once reported reasoning which did not come', async () => {
    const way = { pair: chat, name: 'taught' }
    const finished = await toTheEnd(way)
    expect(share(await hangUp(way), finished)).toBe(1)
  })

  test('is so where the operator says it, and not where he says the other', async () => {
    const kept = await hangUp({ pair: chat, name: 'kept' })
    expect(unitsOf(kept, 'output')).toBe(written)
    const cut = await hangUp({ pair: chat, name: 'cut' })
    expect(unitsOf(cut, 'output')).toBeLessThan(10)
  })

  test('ends at the deadline, charged as other runs of the model say', async () => {
    const way = { pair: chat, name: 'endless' }
    // What it reports when it ends.
    const model = w.deps.catalogue.get('openai/endless')
    if (model) model.route = [{ upstream: 'openai', model: 'thinking' }]
    const finished = await toTheEnd(way)
    if (model) model.route = [{ upstream: 'openai', model: 'endless' }]
    const left = await hangUp(way)
    expect(left.durationMs).toBeGreaterThanOrEqual(900)
    expect(left.durationMs).toBeLessThan(5000)
    expect([left.outcome, left.usageSource]).toEqual(['cancelled', 'counted'])
    expect(unitsOf(left, 'output')).toBeGreaterThan(unitsOf(finished, 'output') * 0.7)
    expect(left.cost).toBeLessThanOrEqual(left.hold)
    expect(left.error?.message).toContain('unseen reasoning')
    await expectFree()
  })

  test('ends at the deadline too where nothing came, and pays for the input', async () => {
    const left = await hangUp({ pair: chat, name: 'silent' })
    expect([left.outcome, unitsOf(left, 'output')]).toEqual(['cancelled', 0])
    expect(left.cost).toBeGreaterThan(0n)
    await expectFree()
  })

  test.each(['cancelled', 'key_revoked', 'shutdown'] as const)(
    'ends at once when it is %s',
    async (reason) => {
      await leave({ pair: chat, name: 'endless' })
      const [live] = w.deps.live.all()
      await until('it to drain', () => live?.isDraining)
      const from = performance.now()
      live?.stop(reason)
      await until('it to end', () => w.deps.live.count() === 0)
      expect(performance.now() - from).toBeLessThan(700)
      const run = await lastRun(w)
      expect([run.outcome, run.cost > 0n]).toEqual(['cancelled', true])
      await expectFree()
    },
  )

  test('is stopped by a cancel of its run', async () => {
    await leave({ pair: chat, name: 'endless' })
    const id = w.deps.live.all()[0]?.id
    const answer = await w.call(`/v1/runs/${id}/cancel`, { key: secret, method: 'POST' })
    expect([answer.status, (await answer.json()).status]).toEqual([200, 'cancelled'])
  })

  promise`T1`
  test('is never charged above its hold, however much its server reports', async () => {
    for (const pair of pairs) {
      const left = await hangUp({ pair, name: 'boasting' })
      expect(left.cost).toBeLessThanOrEqual(left.hold)
      expect([left.clamped, unitsOf(left, 'output')]).toEqual([true, 900])
    }
  })

  test('that breaks off pays for what came until then', async () => {
    const left = await hangUp({ pair: chat, name: 'breaking' })
    expect([left.outcome, left.usageSource]).toEqual(['cancelled', 'counted'])
    expect(unitsOf(left, 'output')).toBeGreaterThanOrEqual(Math.ceil(tail.join('').length / 4))
  })

  test('is thrown away: its receipt commits to what its client received', async () => {
    const left = await hangUp({ pair: chat, name: 'thinker' })
    const heard = [
      { index: 0, message: { role: 'assistant', content: 'Yes. ' }, finish_reason: null },
    ]
    const { commitOutput } = await import('../../src/proof/receipts/receipt.ts')
    expect(left.outputCommitment).toEqual(commitOutput(left.seed, heard))
  })

  test('leaves nothing behind for the key that began it', async () => {
    await hangUp({ pair: chat, name: 'thinker' })
    expect(w.deps.live.all()).toEqual([])
    expect(keyId).toStartWith('key_')
  })
})
