import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/models/upstream/upstream.ts'
import type { RunRow } from '../../src/storage/db/schema/schema.ts'
import { prng } from '../ledger/prng.ts'
import { allPairs, nameOf, type Pair } from '../support/doors.ts'
import { promise } from '../support/promise.ts'
import { allRuns, expectSettled, modelToml, until, upstreamToml } from '../support/runs.ts'
import { type Wire, wires } from '../support/scripted-upstream.ts'
import { type StubHandler, type StubUpstream, startStubUpstream } from '../support/stub-upstream.ts'
import { usd, type World, world } from '../support/world.ts'

const random = prng(36)
const rates = 'cache_read_pusd = 100_000\nhold_bytes_per_token = 2'
const words = ('The tests of the parser pass again, ' + 'and the log has the reason why. ').repeat(
  12,
)
const said = words.split(/(?<= )/)

/** How a model server ends an answer, by a word of the last question. */
type Ending = 'finish' | 'hang' | 'cut'

/** The longest prompt in the cache of the server, by its conversation. */
const cached = new Map<string, number>()
/** Whether it caches at all, by its conversation. */
const uncached = new Set<string>()

const wireOf = (path: string): Wire => {
  if (path.endsWith('/messages')) return wires.anthropic
  return path.endsWith('/responses') ? wires.responses : wires.openai
}

/** A token is 4.4 bytes of JSON that it reads, and 4.7 of what it says. */
const handler: StubHandler = ({ path, body }, response) => {
  const wire = wireOf(path)
  const turns = JSON.stringify(body['messages'] ?? body['input'])
  const tag = /tag-\w+/.exec(turns)?.[0] ?? ''
  const endings = turns.match(/\b(finish|hang|cut)\b/g) ?? []
  const ending = endings.at(-1) as Ending
  const prompt = Math.ceil(turns.length / 4.4)
  const cache_read = uncached.has(tag) ? 0 : Math.min(cached.get(tag) ?? 0, prompt)
  cached.set(tag, prompt)
  const output = Math.ceil(words.length / 4.7)
  const usage = wire.usage({ input: prompt - cache_read, cache_read, output })
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  if (ending === 'finish') {
    return void response.end(wire.stream({ words: said, calls: [] }, usage, 'any').join(''))
  }
  response.write(wire.begin(usage, 'any') + said.map((word) => wire.word(word)).join(''))
  if (ending === 'cut') setTimeout(() => response.destroy(), 30)
}

let stub: StubUpstream
let w: World
let secret: string

beforeAll(async () => {
  stub = await startStubUpstream({ handler })
  const models = allPairs.map((pair) => {
    const { door, wire } = pair
    const more = modelToml(`${door.name}/${wire}`, `"${wire}:any"`, rates)
    return more.replace('context_tokens = 10000', 'context_tokens = 200_000')
  })
  const upstreams = ['openai', 'anthropic', 'responses'].map((kind) =>
    upstreamToml(kind, stub.url, `kind = "${kind}"\nbreaker_failures = 0`),
  )
  w = await world({ toml: upstreams.join('') + models.join('') })
  secret = (await w.key({ balance: 1000n * usd })).secret
})
afterAll(async () => {
  await expectSettled(w)
  await w.stop()
  await stub.stop()
})

type Message = { role: 'user' | 'assistant'; content: string }

function bodyOf({ door, wire }: Pair, messages: Message[]): JsonObject {
  const asked = door.body({ model: `${door.name}/${wire}`, text: '', stream: true, most: 400 })
  return { ...asked, [door.name === 'responses' ? 'input' : 'messages']: messages }
}

/** Asks a turn; leaves a server that hangs once all words have come. Returns the run. */
async function ask(pair: Pair, messages: Message[], ending: Ending): Promise<RunRow> {
  const tag = `t${random.below(2 ** 30)}`
  const gone = new AbortController()
  const headers = { 'x-counterfoil-tags': `turn=${tag}` }
  const json = bodyOf(pair, messages)
  const answer = await w.call(pair.door.path, { key: secret, json, headers, signal: gone.signal })
  const decoder = new TextDecoder()
  let text = ''
  try {
    for await (const read of answer.body ?? []) {
      text += decoder.decode(read, { stream: true })
      if (ending !== 'hang') continue
      const heard = pair.door.read(text.slice(0, text.lastIndexOf('\n\n') + 2)).text
      if (heard.length >= words.trim().length) gone.abort()
    }
  } catch (error) {
    if (ending === 'finish') throw error
  }
  await until('the run to end', () => w.deps.live.count() === 0)
  const run = (await allRuns(w)).find(({ tags }) => tags['turn'] === tag)
  if (!run) throw new Error('the run is not there')
  return run
}

const question = (at: number, ending: Ending): Message => ({
  role: 'user',
  content: `Step ${at}: look at the parser once more, and say why it fails. Then ${ending}.`,
})

/** A conversation whose first turns finish, and whose last one ends so. Returns the last run. */
async function talk(pair: Pair, tag: string, turns: number, ending: Ending): Promise<RunRow> {
  const opening = `This is tag-${tag}. ${'The parser reads a line at a time. '.repeat(200)}`
  const messages: Message[] = [{ role: 'user', content: `${opening} finish` }]
  for (let at = 1; at < turns; at++) {
    await ask(pair, messages, 'finish')
    messages.push({ role: 'assistant', content: words }, question(at, 'finish'))
  }
  messages.pop()
  messages.push(question(turns - 1, ending))
  return ask(pair, messages, ending)
}

const unitsOf = ({ lines }: RunRow, meter: string): number =>
  lines.find((line) => line.meter === meter)?.quantity ?? 0

let next = 0
const tagOf = () => `c${next++}`

describe.each(allPairs.map((pair): [string, Pair] => [nameOf(pair), pair]))('%s', (_, pair) => {
  beforeAll(async () => {
    // So many reported runs say how many bytes a token has.
    for (let at = 0; at < 4; at++) await talk(pair, tagOf(), 2, 'finish')
  })

  test.each([
    ['a turn that its client stops', 'hang', 'cancelled'],
    ['a turn that its server breaks', 'cut', 'partial'],
  ] as const)(
    '%s costs about what it costs finished, cache and all',
    async (_, ending, outcome) => {
      for (const turns of [3, 5]) {
        const finished = await talk(pair, tagOf(), turns, 'finish')
        const stopped = await talk(pair, tagOf(), turns, ending)
        expect([finished.outcome, stopped.outcome]).toEqual(['complete', outcome])
        expect(unitsOf(finished, 'cache_read')).toBeGreaterThan(1000)
        const times = Number(stopped.cost) / Number(finished.cost)
        expect(times).toBeLessThanOrEqual(1.2)
        // Nothing that came is a discount either.
        expect(times).toBeGreaterThanOrEqual(0.95)
        expect(stopped.cost).toBeLessThanOrEqual(stopped.hold)
      }
    },
    60_000,
  )

  promise`S4 C: A turn that is stopped or breaks costs at most 1.2 times what it costs finished,
    with what the server is known to have read from a cache.`
  test('a stopped turn that is asked again and again costs as much each time', async () => {
    const tag = tagOf()
    const first = await talk(pair, tag, 4, 'hang')
    // Its prompt is in the cache by now, and the last report is of the turn before.
    const again = await talk(pair, tag, 4, 'hang')
    expect(Number(again.cost)).toBeLessThanOrEqual(Number(first.cost))
  }, 60_000)
})

promise`S4`
describe('what is known of a cache', () => {
  const pair = allPairs[0] as Pair

  test('is the share of the last reported turn: none where the server reported none', async () => {
    const tag = tagOf()
    uncached.add(`tag-${tag}`)
    const stopped = await talk(pair, tag, 4, 'hang')
    expect(unitsOf(stopped, 'cache_read')).toBe(0)
  })

  test('holds for the same beginning alone', async () => {
    const tag = tagOf()
    await talk(pair, tag, 4, 'finish')
    const other = `This is tag-${tag}. ${'Another text was never sent. '.repeat(200)} hang`
    const stopped = await ask(pair, [{ role: 'user', content: other }], 'hang')
    expect(unitsOf(stopped, 'cache_read')).toBe(0)
  })

  test('is of one account: another one pays for the same text in full', async () => {
    const tag = tagOf()
    await talk(pair, tag, 4, 'finish')
    const mine = secret
    const account = `0x${'36'.repeat(20)}` as const
    secret = (await w.key({ account, balance: 1000n * usd })).secret
    const messages: Message[] = [
      {
        role: 'user',
        content: `This is tag-${tag}. ${'The parser reads a line at a time. '.repeat(200)} finish`,
      },
      { role: 'assistant', content: words },
      question(1, 'hang'),
    ]
    const stopped = await ask(pair, messages, 'hang')
    secret = mine
    expect(unitsOf(stopped, 'cache_read')).toBe(0)
    expect(unitsOf(stopped, 'input')).toBeGreaterThan(1000)
  })
})
