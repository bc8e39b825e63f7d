import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { RunRow } from '../../src/storage/db/schema/schema.ts'
import { prng } from '../ledger/prng.ts'
import {
  type Asking,
  inputBytesOf,
  nameOf,
  type Pair,
  pairs,
  runsBefore,
  wiredToml,
} from '../support/doors.ts'
import { nightly } from '../support/nightly.ts'
import { promise } from '../support/promise.ts'
import { allRuns, expectSettled, lastRun, modelToml, until, upstreamToml } from '../support/runs.ts'
import { speechAt } from '../support/stub-speech.ts'
import { type StubHandler, type StubUpstream, startStubUpstream } from '../support/stub-upstream.ts'
import { usd, type World, world } from '../support/world.ts'

/** How often a client leaves, of each kind. */
const momentsOf = (pair: Pair): number =>
  pair === runsBefore ? nightly(200, 2000) : nightly(60, 600)
const random = prng(19)
/** Of an answer that was heard to its end. */
const usage = { prompt_tokens: 31, completion_tokens: 70 }

/** What the model server was asked and said, by the number of the run. */
type Told = { isAsked: boolean; bytes: number; isWhole: boolean }
const told = new Map<string, Told>()
const toldOf = (n: string): Told => {
  const found = told.get(n) ?? { isAsked: false, bytes: 0, isWhole: false }
  told.set(n, found)
  return found
}

const contentOf = (n: string): string => `${n} ${'x'.repeat(Number(n) % 97)}`
const isReporting = (n: string): boolean => Number(n) % 2 === 0
const asking = ({ wire }: Pair, n: string, stream: boolean): Asking => ({
  model: `${wire}/any`,
  text: contentOf(n),
  stream,
  most: 200,
})

/** Speaks with pauses; every other answer has a usage. */
const handler: StubHandler = async ({ body, path }, response) => {
  const [message] = (body['messages'] ?? body['input']) as { content: string }[]
  const n = message?.content.split(' ')[0] ?? ''
  const one = toldOf(n)
  one.isAsked = true
  const speech = speechAt(path, 'any')
  const pause = () => Bun.sleep(random.below(4))
  const reported = isReporting(n) ? usage : undefined
  await pause()
  if (body['stream'] !== true) {
    one.bytes = 200
    one.isWhole = true
    response.writeHead(200, { 'content-type': 'application/json' })
    return void response.end(JSON.stringify(speech.whole('é'.repeat(100), reported)))
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(speech.begin(reported))
  for (let piece = 0; piece < 20 && !response.destroyed; piece++) {
    const content = `wörd${random.below(100)} `
    one.bytes += Buffer.byteLength(content)
    response.write(speech.word(content))
    await pause()
  }
  one.isWhole = true
  response.end(speech.end(reported).join('') + speech.done(reported))
}

let stub: StubUpstream
let stalled: StubUpstream
let w: World
let secret: string

beforeAll(async () => {
  stub = await startStubUpstream({ handler })
  stalled = await startStubUpstream()
  const few = 'breaker_failures = 0\nmax_in_flight = 1'
  w = await world({
    toml:
      wiredToml(stub.url, ['any']) +
      upstreamToml('few', stalled.url, few) +
      upstreamToml('down', stalled.url) +
      modelToml('few/stall', '"few:stall"') +
      modelToml('two/stall', '"down:status-500", "few:stall"'),
  })
  secret = (await w.key({ balance: 100n * usd })).secret
})
afterAll(async () => {
  await expectSettled(w)
  await w.stop()
  await stub.stop()
  await stalled.stop()
})

/** Reads a stream and leaves after so many pieces; returns the bytes of text that it got. */
async function listen({ door }: Pair, answer: Response, pieces: number, leave: () => void) {
  const decoder = new TextDecoder()
  let [text, bytes] = ['', 0]
  try {
    for await (const read of answer.body ?? []) {
      text += decoder.decode(read, { stream: true })
      const said = door.read(text.slice(0, text.lastIndexOf('\n\n') + 2)).text
      bytes = Buffer.byteLength(said)
      if (said.split(' ').length > pieces) leave()
    }
  } catch {
    // It left.
  }
  return bytes
}

/** Hangs up on one run at a random moment; returns the bytes of text that came until then. */
async function hangUp(pair: Pair, n: string, stream: boolean): Promise<number> {
  const gone = new AbortController()
  const leave = () => gone.abort()
  const isEarly = random.below(3) === 0
  // One in four waits long enough for its answer, however busy the machine is.
  const most = !stream && Number(n) % 4 === 0 ? 2000 : 8
  const timer = isEarly || !stream ? setTimeout(leave, random.below(most)) : undefined
  const { path, body } = pair.door
  const headers = { 'x-counterfoil-tags': `n=${n}` }
  const json = body(asking(pair, n, stream))
  try {
    const answer = await w.call(path, { key: secret, json, headers, signal: gone.signal })
    if (stream) return await listen(pair, answer, random.below(22), leave)
    await answer.text()
    return 200
  } catch {
    return 0
  } finally {
    clearTimeout(timer)
  }
}

const unitsOf = ({ lines }: RunRow, meter: string): number =>
  lines.find((line) => line.meter === meter)?.quantity ?? 0

/** A third of the bytes: no token that a client stopped counts more of them. */
const counted = (bytes: number): number => Math.ceil(bytes / 3)

function judge(
  { pair, stream }: { pair: Pair; stream: boolean },
  row: RunRow,
  n: string,
  received: number,
): void {
  const { isAsked, bytes, isWhole } = toldOf(n)
  const [input, output] = [unitsOf(row, 'input'), unitsOf(row, 'output')]
  expect(row.cost).toBeLessThanOrEqual(row.hold)
  if (row.usageSource === 'reported') {
    expect([input, output, isWhole]).toEqual([31, 70, true])
    return
  }
  // No one pays less than was delivered to them, nor for what the model server never said.
  const least = row.outcome === 'complete' ? Math.ceil(bytes / 4) : counted(received)
  expect(output).toBeGreaterThanOrEqual(least)
  expect(output).toBeLessThanOrEqual(counted(bytes))
  const read = inputBytesOf(pair, asking(pair, n, stream))
  // Anthropic's protocol tells what was read before the first word.
  if (pair.wire === 'anthropic' && isReporting(n) && input === 31) return
  if (row.outcome === 'complete') expect(input).toBe(Math.ceil(read / 4))
  else if (isAsked) expect([input, row.outcome]).toEqual([counted(read), 'cancelled'])
  else expect([0, counted(read)]).toContain(input)
}

let next = 0
const kinds = [runsBefore, ...pairs].flatMap((pair) =>
  [true, false].map((stream): [string, Pair, boolean] => [
    `${nameOf(pair)}, ${stream ? 'streamed' : 'waiting'}`,
    pair,
    stream,
  ]),
)

describe.each(kinds)('hanging up on a run of %s', (_, pair, stream) => {
  promise`D13`
  test('at any moment pays for what was delivered, and no more', async () => {
    const received = new Map<string, number>()
    const moments = momentsOf(pair)
    for (let from = 0; from < moments; from += 20) {
      const some = Array.from({ length: 20 }, () => String(next++))
      const heard = await Promise.all(some.map((n) => hangUp(pair, n, stream)))
      some.forEach((n, at) => void received.set(n, heard[at] ?? 0))
    }
    await until('the runs to end', () => w.deps.live.count() === 0)
    const rows = (await allRuns(w)).filter(({ tags }) => received.has(tags['n'] ?? ''))
    for (const row of rows) {
      const n = row.tags['n'] ?? ''
      judge({ pair, stream }, row, n, received.get(n) ?? 0)
    }
    for (const { outcome } of rows) expect(['cancelled', 'complete']).toContain(String(outcome))
    // A client can also leave before its run begins.
    expect(rows.length).toBeGreaterThan(moments / 10)
  }, 120_000)
})

promise`D13`
describe('hanging up before the request was sent costs nothing', () => {
  const stall = (model: string, signal: AbortSignal) => {
    const messages = [{ role: 'user', content: 'hello' }]
    const json = { model, messages, stream: true }
    return w.call('/v1/chat/completions', { key: secret, json, signal }).catch(() => undefined)
  }

  test.each([
    ['while it waits for a place', 'few/stall', 0],
    ['between two tries', 'two/stall', 1],
  ])('%s', async (_, model, tries) => {
    const [holder, waiter] = [new AbortController(), new AbortController()]
    const before = stalled.counts.requests
    const held = stall('few/stall', holder.signal)
    await until('the place to be taken', () => stalled.counts.requests === before + 1)
    const waiting = stall(model, waiter.signal)
    const few = w.deps.upstreams.get('few')
    await until('the other to wait', () => few?.load?.().waiting === 1)
    waiter.abort()
    await waiting
    await until('it to end', () => w.deps.live.count() === 1)
    const ended = (await allRuns(w)).filter(({ finishedAt }) => finishedAt !== null).at(-1)
    expect([ended?.outcome, ended?.cost]).toEqual(['cancelled', 0n])
    expect(ended?.error?.message).toContain('Nothing was charged')
    expect(stalled.counts.requests - before).toBe(1 + tries)
    // The one that was sent pays for its input.
    holder.abort()
    await held
    await until('the first to end', () => w.deps.live.count() === 0)
    const rows = await allRuns(w)
    expect(rows.filter(({ cost, model }) => cost > 0n && model === 'few/stall').length).toBe(
      tries + 1,
    )
  })

  test('a server that stops charges nothing before the first output', async () => {
    const asked = stalled.counts.requests
    const answer = stall('few/stall', new AbortController().signal)
    await until('the upstream to be asked', () => stalled.counts.requests > asked)
    for (const live of w.deps.live.all()) live.stop('shutdown')
    await answer
    const { outcome, cost } = await lastRun(w)
    expect([outcome, cost]).toEqual(['interrupted', 0n])
  })
})
