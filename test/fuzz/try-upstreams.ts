import type { Json } from '../../src/kernel/canonical.ts'
import { auditStore } from '../../src/ledger/store/audit.ts'
import { rows } from '../../src/storage/db/sql/query-steps.ts'
import { type Prng, prng } from '../ledger/prng.ts'
import { allPairs, chatBefore, nameOf, type Pair, wiredToml } from '../support/doors.ts'
import { embeddingToml, modelsToml, until } from '../support/runs.ts'
import { speechAt } from '../support/stub-speech.ts'
import { startStubUpstream, stubUsage } from '../support/stub-upstream.ts'
import { usd, type World, world } from '../support/world.ts'
import { cut, mutateBytes, mutateJson } from './mutate.ts'
import { type Bounds, type Effort, stopwatch, type Tried } from './run.ts'

const mostFaults = 8
/** Else it would be left alone after a few failures, and nothing would be tried any more. */
const noBreaker = 'breaker_failures = 0'

const choice = {
  index: 0,
  message: { role: 'assistant', content: 'The fox' },
  finish_reason: 'stop',
}
const whole: Json = { object: 'chat.completion', choices: [choice], usage: stubUsage }
const vectors: Json = {
  object: 'list',
  data: [{ object: 'embedding', index: 0, embedding: [0.6, 0.8] }],
  usage: stubUsage,
}
const said = ['The', ' fox'].map((content) => ({ choices: [{ index: 0, delta: { content } }] }))
const stream: Json[] = [
  ...said,
  { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  { choices: [], usage: stubUsage },
]

type Kind = 'chat' | 'stream' | 'embedding' | { pair: Pair; stream: boolean }

/** A server of another kind answers what its own protocol says. */
function answerOfPair(random: Prng, { pair, stream }: { pair: Pair; stream: boolean }): Uint8Array {
  const speech = speechAt(paths[pair.wire], 'any')
  if (!stream) return Buffer.from(mutateJson(random, speech.whole('The fox', stubUsage)))
  const end = [...speech.end(stubUsage), speech.done(stubUsage)]
  const frames = [speech.begin(stubUsage), speech.word('The'), speech.word(' fox'), ...end]
  const text = frames.join('')
  return random.below(4) === 0 ? Buffer.from(text) : mutateBytes(random, Buffer.from(text), frames)
}

const paths = { openai: '/chat/completions', anthropic: '/messages', responses: '/responses' }
const others = allPairs.filter((pair) => pair !== chatBefore)

/** What an upstream answers: something like what it should, in some pieces. */
function answerOf(random: Prng, kind: Kind): Uint8Array {
  if (typeof kind === 'object') return answerOfPair(random, kind)
  if (kind !== 'stream') return Buffer.from(mutateJson(random, kind === 'chat' ? whole : vectors))
  const spoilt = random.below(stream.length)
  const events = stream.map((chunk, at) =>
    at === spoilt ? mutateJson(random, chunk) : JSON.stringify(chunk),
  )
  const text = [...events, '[DONE]'].map((data) => `data: ${data}\n\n`).join('')
  return random.below(2) === 0 ? Buffer.from(text) : mutateBytes(random, Buffer.from(text), [text])
}

/** Runs models of an upstream that answers anything at all, and looks at answers and money. */
export async function tryUpstreams(seed: number, effort: Effort, bounds: Bounds): Promise<Tried> {
  const tried: Tried = {
    name: 'runs at an upstream',
    inputs: 0,
    slowestMs: 0,
    grownMiB: 0,
    faults: [],
  }
  let pieces: Uint8Array[] = []
  const stub = await startStubUpstream({
    handler: async (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      for (const piece of pieces) {
        response.write(piece)
        await new Promise((next) => setImmediate(next))
      }
      response.end()
    },
  })
  const toml =
    modelsToml(stub.url, ['any'], noBreaker) +
    wiredToml(stub.url, ['any'], noBreaker) +
    embeddingToml('stub/vectors', '"stub:any"')
  const w = await world({ toml })
  const { secret } = await w.key({ balance: 1000n * usd })
  const end = 'ms' in effort ? performance.now() + effort.ms : Number.POSITIVE_INFINITY
  const most = 'inputs' in effort ? effort.inputs : Number.POSITIVE_INFINITY
  while (tried.inputs < most && performance.now() < end && tried.faults.length < mostFaults) {
    const number = tried.inputs++
    const random = prng(Bun.hash.crc32(`upstreams/${seed}/${number}`))
    const pair = random.pick(others)
    const own: Kind = { pair, stream: random.below(2) === 0 }
    const kind = random.pick<Kind>(['chat', 'stream', 'embedding', own, own, own])
    pieces = cut(random, answerOf(random, kind))
    const spent = stopwatch()
    const answer = await ask(w, secret, kind)
    const ms = spent()
    tried.slowestMs = Math.max(tried.slowestMs, ms)
    const faults = ms > bounds.mostMs ? [`took ${ms.toFixed(0)} ms`] : []
    const isFine = [200, 502].includes(answer.status) && !answer.text.includes('"internal_error"')
    if (!isFine) faults.push(answer.text.slice(-300))
    const name = typeof kind === 'object' ? nameOf(kind.pair) : kind
    const where = `${seed}/${number}: ${name} ${answer.status}`
    tried.faults.push(...faults.map((fault) => `${where} ${fault}`))
  }
  tried.faults.push(...(await booksOf(w)))
  await w.stop()
  await stub.stop()
  return tried
}

/** One run, to its end. */
async function ask(w: World, key: string, kind: Kind): Promise<{ status: number; text: string }> {
  if (typeof kind === 'object') {
    const { door, wire } = kind.pair
    const json = door.body({ model: `${wire}/any`, text: 'a', most: 9, stream: kind.stream })
    const answer = await w.call(door.path, { key, json })
    return { status: answer.status, text: await answer.text() }
  }
  const messages = [{ role: 'user', content: 'a' }]
  const chat = { model: 'stub/any', messages, max_tokens: 9, stream: kind === 'stream' }
  const answer =
    kind === 'embedding'
      ? await w.call('/v1/embeddings', { key, json: { model: 'stub/vectors', input: 'a' } })
      : await w.call('/v1/chat/completions', { key, json: chat })
  return { status: answer.status, text: await answer.text() }
}

/** What is wrong with the money when all runs have ended, and what was logged as a bug. */
async function booksOf(w: World): Promise<string[]> {
  await until('the runs in flight', () => w.deps.live.count() === 0, 20_000)
  const { accounts } = w.db.tables
  const held = await w.db.read((q) => rows(q.select({ held: accounts.held }).from(accounts)))
  const audit = await auditStore(w.db).whole(w.deps.clock.now())
  const broken = w.logged.filter(({ error }) => error !== undefined).slice(0, 5)
  return [
    ...(held.some((row) => row.held !== 0n) ? ['something is held'] : []),
    ...audit.map((fault) => `the ledger: ${JSON.stringify(fault)}`),
    ...broken.map(({ event, error }) => `${event}: ${String(error).slice(0, 300)}`),
  ]
}
