import { expect, test } from 'bun:test'
import { countOutput } from '../../src/models/count.ts'
import { loadTokenizer } from '../../src/models/tokenizers/load.ts'
import { decideUsage } from '../../src/models/usage.ts'

const choicesOf = (message: object) => [{ index: 0, message, finish_reason: 'stop' }] as never
const said = 'The quick brown fox jumps over 1234567890 lazy dogs.'

test('A model with a tokenizer counts its output exactly.', async () => {
  const tokenizer = await loadTokenizer('o200k_base')
  const counting = { bytesPerToken: 4, tokenizer: 'o200k_base' } as const
  const count = (message: object) =>
    countOutput(counting, { bytes: 1000, choices: choicesOf(message) })
  const tokens = tokenizer.count(said)
  expect(count({ role: 'assistant', content: said })).toBe(tokens)
  const called = { name: 'weather', arguments: '{"city":"Rome"}' }
  const tool_calls = [{ id: 'call_1', type: 'function', function: called }]
  expect(count({ content: null, tool_calls })).toBe(
    tokenizer.count('weather') + tokenizer.count(called.arguments),
  )
  const image = 'data:image/png;base64,iVBORw0KGgo='
  expect(count({ content: '', images: [image] })).toBe(
    tokenizer.count('images') + tokenizer.count(image),
  )
})

test('Reasoning that is said under two names counts once, by a tokenizer too.', async () => {
  const tokenizer = await loadTokenizer('o200k_base')
  const counting = { bytesPerToken: 4, tokenizer: 'o200k_base' } as const
  const message = {
    role: 'assistant',
    content: 'Yes.',
    reasoning: said,
    reasoning_content: said,
    reasoning_details: [{ type: 'reasoning.text', text: said, index: 0 }],
  }
  const counted = countOutput(counting, { bytes: 1000, choices: choicesOf(message) })
  expect(counted).toBe(tokenizer.count('Yes.') + tokenizer.count(said))
})

test('The input that the tokenizer counted for the hold is the one that is charged.', () => {
  const bound = { inputTokens: 90, outputTokens: 50, maxTokens: 50, n: 1, inputBytes: 80 }
  const { usage, source } = decideUsage({
    bound: { ...bound, countedText: 17 },
    prices: { inputPusd: 1n, outputPusd: 1n, requestNusd: 0n },
    reported: undefined,
    delivered: { inputBytes: 80, outputBytes: 0, output: [] },
    counting: { bytesPerToken: 4 },
    embedded: false,
  })
  expect([usage, source]).toEqual([{ inputTokens: 17, outputTokens: 0 }, 'counted'])
})
