import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { pricedToml } from '../../billing/quotes/priced.ts'
import { promise } from '../../support/promise.ts'
import { type StubUpstream, startStubUpstream } from '../../support/stub-upstream.ts'
import { usd, type World, world } from '../../support/world.ts'

const numbers = (n: number): number[] => Array.from({ length: n }, (_, i) => i)
const text = (n: number): string => 'word, '.repeat(n)
const tool = (i: number) => ({
  name: `tool_${i}`,
  description: 'd',
  parameters: { type: 'object', properties: { [`p${i}`]: { type: 'string' } } },
})

/** Bodies whose size grows by `n` in one member each, by the door that takes them. */
const shapes: Record<string, Record<string, (n: number) => object>> = {
  '/v1/chat/completions': {
    'one long text': (n) => ({ messages: [{ role: 'user', content: text(20 * n) }] }),
    'many messages': (n) => ({ messages: numbers(n).map(() => ({ role: 'user', content: 'hi' })) }),
    'many parts': (n) => ({
      messages: [{ role: 'user', content: numbers(n).map(() => ({ type: 'text', text: 'hi' })) }],
    }),
    'many tool calls': (n) => ({
      messages: [
        { role: 'user', content: 'hi' },
        {
          role: 'assistant',
          tool_calls: numbers(n).map((i) => ({
            id: `c${i}`,
            type: 'function',
            function: { name: 'f', arguments: '{}' },
          })),
        },
        ...numbers(n).map((i) => ({ role: 'tool', tool_call_id: `c${i}`, content: 'r' })),
      ],
    }),
    'many tools': (n) => ({
      messages: [{ role: 'user', content: 'hi' }],
      tools: numbers(n / 4).map((i) => ({ type: 'function', function: tool(i) })),
    }),
    'long metadata': (n) => ({
      messages: [{ role: 'user', content: 'hi' }],
      metadata: Object.fromEntries(numbers(n).map((i) => [`k${i}`, 'v'])),
    }),
  },
  '/v1/messages': {
    'many messages': (n) => ({
      messages: numbers(n).map((i) => ({ role: i % 2 ? 'assistant' : 'user', content: 'hi' })),
    }),
    'many tool uses and results': (n) => ({
      messages: [
        { role: 'user', content: 'hi' },
        {
          role: 'assistant',
          content: numbers(n).map((i) => ({ type: 'tool_use', id: `t${i}`, name: 'f', input: {} })),
        },
        {
          role: 'user',
          content: numbers(n).map((i) => ({
            type: 'tool_result',
            tool_use_id: `t${i}`,
            content: 'r',
          })),
        },
      ],
    }),
    'many system blocks': (n) => ({
      system: numbers(n).map(() => ({ type: 'text', text: 'be brief' })),
      messages: [{ role: 'user', content: 'hi' }],
    }),
  },
  '/v1/responses': {
    'many messages': (n) => ({ input: numbers(n).map(() => ({ role: 'user', content: 'hi' })) }),
    'many function calls': (n) => ({
      input: [
        { role: 'user', content: 'hi' },
        ...numbers(n).map((i) => ({
          type: 'function_call',
          call_id: `c${i}`,
          name: 'f',
          arguments: '{}',
        })),
      ],
    }),
    'many calls and outputs': (n) => ({
      input: [
        { role: 'user', content: 'hi' },
        ...numbers(n).flatMap((i) => [
          { type: 'function_call', call_id: `c${i}`, name: 'f', arguments: '{}' },
          { type: 'function_call_output', call_id: `c${i}`, output: 'r' },
        ]),
      ],
    }),
    'many items of reasoning': (n) => ({
      input: [
        { role: 'user', content: 'hi' },
        ...numbers(n).map((i) => ({
          type: 'reasoning',
          id: `rs_${i}`,
          summary: [{ type: 'summary_text', text: 'so' }],
        })),
        { role: 'user', content: 'go on' },
      ],
    }),
    'many references to items': (n) => ({
      input: [
        { role: 'user', content: 'hi' },
        ...numbers(n).map((i) => ({ type: 'item_reference', id: `msg_${i}` })),
      ],
    }),
    'many tools': (n) => ({
      input: 'hi',
      tools: numbers(n / 4).map((i) => ({ type: 'function', ...tool(i) })),
    }),
  },
  '/v1/embeddings': {
    'many texts': (n) => ({ input: numbers(n).map(() => 'hi') }),
  },
  '/v1/receipts/verify': {
    'many members': (n) => ({ receipt: Object.fromEntries(numbers(n).map((i) => [`m${i}`, 1])) }),
    'many lines of meters': (n) => ({
      receipt: { type: 'counterfoil.receipt', lines: numbers(n).map(() => ({ meter: 'm' })) },
    }),
    'a long proof': (n) => ({ receipt: {}, proof: { tlog: '\n— a aaaaaaaa'.repeat(n) } }),
  },
}

/** A cost that grows as n does is at most this many times as large at 2n; n² would be 4 times. */
const mostGrowth = 3
/** Below so many ms nothing can be told. */
const leastMs = 12

promise`T4 H: The CPU of a request grows as its size does; accounts without money have two runs at
  once and are refused before their body is read.`
describe('the CPU of a request grows as its size does', () => {
  let w: World
  let stub: StubUpstream
  let key: string
  beforeAll(async () => {
    stub = await startStubUpstream()
    w = await world({ toml: pricedToml(stub.url, ['normal'], 10) })
    key = (await w.key({ balance: 100n * usd, capLimit: 1_000_000n * usd })).secret
  })
  afterAll(async () => {
    await w.stop()
    await stub.stop()
  })

  /** Milliseconds of CPU of this process for a request, the least of some. */
  async function cpuOf(path: string, body: object): Promise<number> {
    const json = { model: 'counterfoil/echo-1', max_tokens: 4, ...body }
    if (path === '/v1/embeddings') json.model = 'counterfoil/embed-1'
    let least = Number.POSITIVE_INFINITY
    for (let i = 0; i < 4; i++) {
      const before = process.cpuUsage()
      const answer = await w.call(path, { key, json })
      await answer.text()
      const { user, system } = process.cpuUsage(before)
      least = Math.min(least, (user + system) / 1000)
    }
    return least
  }

  const all = Object.entries(shapes).flatMap(([path, forms]) =>
    Object.entries(forms).map(([name, make]) => [path, name, make] as const),
  )

  test.each(all)('The CPU of %s with %s grows as the size does.', async (path, _, make) => {
    const [n, twice] = [3000, 6000]
    await cpuOf(path, make(100))
    let [one, two] = [0, 0]
    // A busy machine can spoil a pair, never three.
    for (let i = 0; i < 3; i++) {
      one = await cpuOf(path, make(n))
      two = await cpuOf(path, make(twice))
      if (two <= Math.max(leastMs, mostGrowth * one)) break
    }
    expect(two).toBeLessThanOrEqual(Math.max(leastMs, mostGrowth * one))
  })
})
