import { expect, test } from 'bun:test'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { encodeChat } from 'gpt-tokenizer/model/gpt-4o'
import type { Json } from '../../src/kernel/canonical.ts'
import { boundOf } from '../../src/models/bound.ts'
import { echoModel } from '../../src/models/builtins.ts'
import { costOf } from '../../src/models/meter.ts'
import type { Model } from '../../src/models/model.ts'
import { holdLines, linesOf } from '../../src/models/rates.ts'
import { loadTokenizer } from '../../src/models/tokenizers/load.ts'

/** $3 and $15 per million tokens. */
const chat: Model = {
  ...echoModel,
  id: 'acme/large',
  verifiable: 'none',
  contextTokens: 200_000,
  maxOutputTokens: 32_000,
  prices: { inputPusd: 3_000_000n, outputPusd: 15_000_000n, requestNusd: 0n },
  overhead: { perMessage: 16, fixed: 64 },
}

const toolNamed = (name: string, description: string, ...members: string[]) => ({
  type: 'function',
  function: {
    name,
    description,
    parameters: {
      type: 'object',
      properties: Object.fromEntries(
        members.map((member) => [member, { type: 'string', description: `The ${member}.` }]),
      ),
      required: members,
      additionalProperties: false,
    },
  },
})
const tools = [
  toolNamed('read_file', 'Reads a file of the repository and returns its text.', 'path'),
  toolNamed('search', 'Searches all files for a regular expression.', 'pattern', 'folder'),
  toolNamed('edit_file', 'Replaces a text in a file by another.', 'path', 'old_text', 'new_text'),
  toolNamed('run_tests', 'Runs the tests that a filter names and returns their report.', 'filter'),
]

type Turn = { messages: { role: string; content: string; [more: string]: Json }[]; output: number }

/** Turns of an agent that reads this repository, and a few plain prompts. */
async function turns(): Promise<Turn[]> {
  const system = {
    role: 'system',
    content: (await Bun.file('CONTRIBUTING.md').text()) + (await Bun.file('AGENTS.md').text()),
  }
  const files = [
    'src/runs/begin.ts',
    'src/ledger/hold.ts',
    'docs/life-of-a-run.md',
    'src/models/rates.ts',
    'test/runs/fit.test.ts',
    'src/runs/api.ts',
    'docs/api.md',
  ]
  const all: Turn[] = []
  const talk: Turn['messages'] = [
    system,
    { role: 'user', content: 'Why does this test fail? Find the cause and propose a change.' },
  ]
  for (const [at, path] of files.entries()) {
    const call = { name: 'read_file', arguments: JSON.stringify({ path }) }
    talk.push(
      {
        role: 'assistant',
        content: `I look at ${path} next, because the amount is made there.`,
        tool_calls: [{ id: `call_${at}`, type: 'function', function: call }],
      },
      { role: 'tool', tool_call_id: `call_${at}`, content: await Bun.file(path).text() },
    )
    all.push({ messages: [...talk], output: 300 + at * 90 })
  }
  for (const path of ['docs/faq.md', 'docs/backup.md', 'README.md']) {
    const content = `Summarise this for a person in a hurry.\n\n${await Bun.file(path).text()}`
    all.push({ messages: [{ role: 'user', content }], output: 450 })
  }
  return all
}

/** What a server of this encoding reports: messages by the library's own template, tools as JSON. */
function reportedFor({ messages }: Turn): number {
  const plain = messages.map(({ role, content }) => ({ role: role as 'user', content }))
  const calls = messages.map(({ tool_calls: made = [] }) => JSON.stringify(made))
  return encodeChat(plain).length + countTokens(calls.join('')) + countTokens(JSON.stringify(tools))
}

/** The median of hold over cost, `max_tokens` being about twice what the agent then says. */
async function medianOf(model: Model): Promise<number> {
  const tokenizer = model.tokenizer && (await loadTokenizer(model.tokenizer))
  const ratios = (await turns()).map((turn) => {
    const body = { messages: turn.messages as Json[], tools: tools as Json[], max_tokens: 1200 }
    const bound = boundOf(model, body, tokenizer)
    const usage = { inputTokens: reportedFor(turn), outputTokens: turn.output }
    expect(bound.inputTokens).toBeGreaterThanOrEqual(usage.inputTokens)
    const cost = costOf(linesOf(model.prices, 'chat', usage), 0)
    return Number(costOf(holdLines(model.prices, 'chat', bound), 0)) / Number(cost)
  })
  return ratios.sort((a, b) => a - b)[Math.floor(ratios.length / 2)] ?? Number.NaN
}

test('the median hold of an agent is at most 1.6 costs with a tokenizer', async () => {
  expect(await medianOf({ ...chat, tokenizer: 'o200k_base' })).toBeLessThanOrEqual(1.6)
})

test('it is at most 2.5 costs with three bytes a token, and more with one', async () => {
  expect(await medianOf({ ...chat, holdBytesPerToken: 3 })).toBeLessThanOrEqual(2.5)
  expect(await medianOf(chat)).toBeGreaterThan(2.5)
})
