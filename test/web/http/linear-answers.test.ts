import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { promise } from '../../support/promise.ts'
import { chunkOf, frameOf, upstreamToml } from '../../support/runs.ts'
import { type StubUpstream, startStubUpstream } from '../../support/stub-upstream.ts'
import { usd, type World, world } from '../../support/world.ts'

const numbers = (n: number): number[] => Array.from({ length: n }, (_, i) => i)
const text = (n: number): string => 'word, '.repeat(n)
const json = (value: object): string => JSON.stringify(value)
const named = (event: { type: string }): string => `event: ${event.type}\n${frameOf(event)}`

type Answer = { isStream: boolean; body: (n: number) => string }

const chatEnd = `${chunkOf({}, 'stop')}${frameOf({
  choices: [],
  usage: { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 },
})}data: [DONE]\n\n`
const chat = (chunks: (n: number) => string[]): Answer => ({
  isStream: true,
  body: (n) => chunks(n).join('') + chatEnd,
})
const chatCall = (i: number, more: object) =>
  chunkOf({ tool_calls: [{ index: i, function: more, type: 'function', id: `c${i}` }] })
const wholeChat = (message: (n: number) => object): Answer => ({
  isStream: false,
  body: (n) =>
    json({
      id: 'chatcmpl-stub',
      object: 'chat.completion',
      created: 1_700_000_000,
      model: 'any',
      choices: [{ index: 0, message: { role: 'assistant', ...message(n) }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 },
    }),
})

const block = (index: number, kind: object, deltas: object[]): string =>
  [
    named({ type: 'content_block_start', index, content_block: kind } as never),
    ...deltas.map((delta) => named({ type: 'content_block_delta', index, delta } as never)),
    named({ type: 'content_block_stop', index } as never),
  ].join('')
const said = (words: string) => ({ type: 'text_delta', text: words })
const message = (blocks: (n: number) => string[]): Answer => ({
  isStream: true,
  body: (n) =>
    [
      named({
        type: 'message_start',
        message: {
          ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'any', content: [] },
          ...{ stop_reason: null, stop_sequence: null },
          usage: { input_tokens: 5, output_tokens: 1 },
        },
      } as never),
      ...blocks(n),
      named({
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens: 5 },
      } as never),
      named({ type: 'message_stop' }),
    ].join(''),
})

const part = { type: 'output_text', text: '', annotations: [] }
const item = (i: number, words: string[]): { frames: string; done: object } => {
  const at = { item_id: `msg_${i}`, output_index: i, content_index: 0 }
  const begun = { id: `msg_${i}`, type: 'message', role: 'assistant', content: [] }
  const whole = words.join('')
  const done = { ...begun, status: 'completed', content: [{ ...part, text: whole }] }
  const events = [
    { type: 'response.output_item.added', output_index: i, item: begun },
    { type: 'response.content_part.added', ...at, part },
    ...words.map((delta) => ({ type: 'response.output_text.delta', ...at, delta })),
    { type: 'response.output_text.done', ...at, text: whole },
    { type: 'response.output_item.done', output_index: i, item: done },
  ]
  return { frames: events.map(named).join(''), done }
}
const response = (items: (n: number) => string[][]): Answer => ({
  isStream: true,
  body: (n) => {
    const all = items(n).map((words, i) => item(i, words))
    const about = { id: 'resp_1', object: 'response', model: 'any', created_at: 1_700_000_000 }
    const usage = { input_tokens: 5, output_tokens: 5, total_tokens: 10 }
    const completed = { ...about, status: 'completed', output: all.map(({ done }) => done), usage }
    return [
      named({ type: 'response.created', response: { ...about, output: [] } } as never),
      ...all.map(({ frames }) => frames),
      named({ type: 'response.completed', response: completed } as never),
    ].join('')
  },
})

/** Answers whose size grows by `n` in one member each, by the kind of their server. */
const answers: Record<string, Record<string, Answer>> = {
  openai: {
    'many pieces of text': chat((n) => numbers(n).map(() => chunkOf({ content: 'hi ' }))),
    'one long piece': chat((n) => [chunkOf({ content: text(20 * n) })]),
    'many pieces of reasoning': chat((n) => [
      ...numbers(n).map(() => chunkOf({ reasoning_content: 'so ' })),
      chunkOf({ content: 'hi' }),
    ]),
    'many calls': chat((n) =>
      numbers(n / 4).map((i) => chatCall(i, { name: 'f', arguments: '{}' })),
    ),
    'many pieces of one call': chat((n) => [
      chatCall(0, { name: 'f', arguments: '{"a":"' }),
      ...numbers(n).map(() => chatCall(0, { arguments: 'word ' })),
      chatCall(0, { arguments: '"}' }),
    ]),
    'many pieces of one call, each with its name': chat((n) => [
      ...numbers(n).map(() => chatCall(0, { name: 'f', arguments: '{"a":{} ' })),
      chatCall(0, { arguments: '}'.repeat(n) }),
    ]),
    'a whole long text': wholeChat((n) => ({ content: text(20 * n) })),
    'many whole calls': wholeChat((n) => ({
      content: null,
      tool_calls: numbers(n).map((i) => ({
        ...{ id: `c${i}`, type: 'function' },
        function: { name: 'f', arguments: '{}' },
      })),
    })),
  },
  anthropic: {
    'many pieces of text': message((n) => [
      block(
        0,
        { type: 'text', text: '' },
        numbers(n).map(() => said('hi ')),
      ),
    ]),
    'many citations': message((n) => [
      block(
        0,
        { type: 'text', text: '', citations: [] },
        numbers(n).map((i) => ({
          type: 'citations_delta',
          citation: { type: 'char_location', cited_text: 'hi', start_char_index: i },
        })),
      ),
    ]),
    'many pieces of one call': message((n) => [
      block(
        0,
        { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} },
        numbers(n).map(() => ({ type: 'input_json_delta', partial_json: 'hi ' })),
      ),
    ]),
    'many blocks': message((n) =>
      numbers(n / 4).map((i) => block(i, { type: 'text', text: '' }, [said('hi')])),
    ),
    'many calls': message((n) =>
      numbers(n / 4).map((i) =>
        block(i, { type: 'tool_use', id: `toolu_${i}`, name: 'f', input: {} }, [
          { type: 'input_json_delta', partial_json: '{}' },
        ]),
      ),
    ),
  },
  responses: {
    'many pieces of text': response((n) => [numbers(n).map(() => 'hi ')]),
    'many items': response((n) => numbers(n / 4).map(() => ['hi'])),
  },
}

const doors: Record<string, object> = {
  '/v1/chat/completions': { messages: [{ role: 'user', content: 'hi' }] },
  '/v1/messages': { messages: [{ role: 'user', content: 'hi' }] },
  '/v1/responses': { input: 'hi' },
}

/** Answers whose square shows only when they are longer: small lists are searched quickly. */
const longer: [kind: string, name: string, path: string][] = [
  ['openai', 'many pieces of one call', '/v1/responses'],
  ['openai', 'many pieces of one call, each with its name', '/v1/chat/completions'],
  ['anthropic', 'many citations', '/v1/messages'],
  ['responses', 'many items', '/v1/responses'],
]

/** A cost that grows as n does is at most this many times as large at 2n; n² would be 4 times. */
const mostGrowth = 3
/** Below so many ms nothing can be told. */
const leastMs = 30

promise`T4`
describe('the CPU of an answer grows as its size does', () => {
  let w: World
  let stub: StubUpstream
  let key: string
  let body = ''
  let isStream = true
  beforeAll(async () => {
    stub = await startStubUpstream({
      handler: (_, response) => {
        const type = isStream ? 'text/event-stream' : 'application/json'
        response.writeHead(200, { 'content-type': type })
        response.end(body)
      },
    })
    const toml = Object.keys(answers).map(
      (kind) => `${upstreamToml(kind, stub.url, `kind = "${kind}"`)}
[[models]]
id = "stub/${kind}"
route = ["${kind}:any"]
kind = "chat"
context_tokens = 1_000_000
max_output_tokens = 500_000
input_pusd = 1
output_pusd = 1
`,
    )
    w = await world({ toml: toml.join('') })
    key = (await w.key({ balance: 100n * usd, capLimit: 1_000_000n * usd })).secret
  })
  afterAll(async () => {
    await w.stop()
    await stub.stop()
  })

  /** Milliseconds of CPU of this process, the server included, the least of some. */
  async function cpuOf(path: string, kind: string, answer: Answer, n: number): Promise<number> {
    const wish = { model: `stub/${kind}`, ...doors[path], max_tokens: 400_000 }
    if (path === '/v1/responses') Object.assign(wish, { max_tokens: undefined, store: false })
    body = answer.body(n)
    isStream = answer.isStream
    let least = Number.POSITIVE_INFINITY
    // A long answer takes its time twice.
    for (let i = n > 4000 ? 1 : 0; i < 3; i++) {
      const before = process.cpuUsage()
      const told = await w.call(path, { key, json: { ...wish, stream: answer.isStream } })
      const text = await told.text()
      const { user, system } = process.cpuUsage(before)
      if (told.status !== 200) throw new Error(`${told.status} ${text.slice(0, 300)}`)
      least = Math.min(least, (user + system) / 1000)
    }
    return least
  }

  const all = Object.entries(answers).flatMap(([kind, forms]) =>
    Object.entries(forms).flatMap(([name, answer]) =>
      Object.keys(doors).map((path) => [kind, name, path, answer] as const),
    ),
  )

  async function expectGrowth(path: string, kind: string, answer: Answer, n: number) {
    await cpuOf(path, kind, answer, 100)
    let [one, two] = [0, 0]
    // A busy machine can spoil a pair, never three.
    for (let i = 0; i < 3; i++) {
      one = await cpuOf(path, kind, answer, n)
      two = await cpuOf(path, kind, answer, 2 * n)
      if (two <= Math.max(leastMs, mostGrowth * one)) break
    }
    expect(two).toBeLessThanOrEqual(Math.max(leastMs, mostGrowth * one))
  }

  test.each(all)('an upstream of %s with %s, told at %s', (kind, _, path, answer) =>
    expectGrowth(path, kind, answer, 2000),
  )

  test.each(longer)('a long answer of %s with %s, told at %s', (kind, name, path) => {
    const answer = answers[kind]?.[name]
    if (!answer) throw new Error(`no answer of ${kind} has ${name}`)
    return expectGrowth(path, kind, answer, 16_000)
  })
})
