import { describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { wordsOf } from '../../../src/front/console/fault-words.ts'
import {
  type ConsoleQuestion,
  curlOf,
  inputText,
  messagesOf,
  mostOf,
  piecesOf,
  readTariff,
  recentTurns,
} from '../../../src/front/console/talk.ts'
import { tariffOf, writeTariff } from '../../../src/front/console/tariff.ts'
import { boundOf } from '../../../src/models/bound.ts'
import { makeCatalogue } from '../../../src/models/catalogue.ts'
import { costOf } from '../../../src/models/meter.ts'
import { holdLines } from '../../../src/models/rates.ts'
import { payloads } from '../../web/ui/payloads.ts'
import { pdfUrl, pngBytes, pngUrl } from './support.ts'

const png = { name: "a 'chart' $1.png", data: pngUrl }
const pdf = { name: 'paper.pdf', data: pdfUrl }

const turn = (chars: number) => ({ input: 'a'.repeat(chars), output: '' })

describe('the turns that go along', () => {
  const cases: [what: string, sizes: number[], kept: number[]][] = [
    ['none', [], []],
    ['few and short ones, all', [1, 2, 3], [1, 2, 3]],
    ['of many the newest eight', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], [3, 4, 5, 6, 7, 8, 9, 10]],
    ['of long ones those that fit', [20_000, 20_000, 10_000], [20_000, 10_000]],
    ['nothing before one that does not fit', [1, 32_001, 1], [1]],
    ['exactly as much as fits', [16_000, 16_000], [16_000, 16_000]],
    ['not even the newest when it is too long', [1, 32_001], []],
  ]
  test.each(cases)('%s', (_, sizes, kept) => {
    expect(recentTurns(sizes.map(turn)).map(({ input }) => input.length)).toEqual(kept)
  })
  test('with files those whose files fit, too', () => {
    const turns = [10, 5, 0, 4].map((chars) => ({
      ...turn(chars),
      files: [{ name: 'a.png', data: 'd'.repeat(chars) }],
    }))
    expect(recentTurns(turns, 9).map(({ input }) => input.length)).toEqual([5, 0, 4])
    expect(recentTurns(turns, 8).map(({ input }) => input.length)).toEqual([0, 4])
  })
})

describe('what is foreseen is what is held', () => {
  const catalogue = makeCatalogue({
    models: [
      {
        id: 'acme/chat',
        kind: 'chat',
        route: ['up:chat'],
        context_tokens: 1000,
        max_output_tokens: 500,
        input_pusd: 150_000,
        output_pusd: 600_000,
        request_nusd: 7,
      },
      {
        id: 'acme/banded',
        kind: 'chat',
        route: ['up:banded'],
        context_tokens: 250,
        max_output_tokens: 200,
        hold_bytes_per_token: 2,
        input_pusd: 150_000,
        cache_write_pusd: 187_500,
        output_pusd: 600_000,
        reasoning_pusd: 700_000,
        bands: [{ above_input_tokens: 120, input_pusd: 300_000, output_pusd: 500_000 }],
        tiers: [{ name: 'priority', input_pusd: 1_000_000 }],
      },
      {
        id: 'acme/sees',
        kind: 'chat',
        route: ['up:sees'],
        context_tokens: 100_000,
        max_output_tokens: 500,
        image_tokens_max: 1600,
        page_tokens_max: 3000,
        pdf_pages_max: 4,
        input_pusd: 150_000,
        output_pusd: 600_000,
      },
    ],
    upstreamIds: ['up'],
  })
  const asks: Partial<ConsoleQuestion>[] = [
    {},
    { input: 'ü "quoted" \\ \n\t \u2028 😀' },
    { system: 'Be brief.', params: { temperature: 0.5 } },
    { turns: [{ input: 'a', output: 'b', receipt_id: 'rcpt_1' }] },
    { input: 'a longer question, '.repeat(10), max_output_tokens: 200 },
  ]
  const calls = [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }]
  const said: Partial<ConsoleQuestion>[] = [
    {
      turns: [{ input: 'a', output: 'b', reply: { reasoning_content: 'Hm.', tool_calls: calls } }],
    },
  ]
  const withFiles: Partial<ConsoleQuestion>[] = [
    { files: [png] },
    { files: [png, png, pdf] },
    { input: 'and now?', files: [png], turns: [{ input: 'a', output: 'b', files: [pdf, png] }] },
  ]
  const named = [
    ...['acme/chat', 'acme/banded'].flatMap((id) => [...asks, ...said].map((one) => [id, one])),
    ...[...asks, ...said, ...withFiles].map((one) => ['acme/sees', one]),
  ] as [id: string, more: Partial<ConsoleQuestion>][]
  test.each(named)('%s, %j', (id, more) => {
    const model = catalogue.get(id)
    if (!model) throw new Error('no model')
    const ask: ConsoleQuestion = { model: model.id, input: 'hi', max_output_tokens: 20, ...more }
    const body = {
      ...ask.params,
      model: model.id,
      messages: messagesOf(ask),
      max_tokens: ask.max_output_tokens ?? 0,
    }
    const held = costOf(holdLines(model.prices, 'chat', boundOf(model, body)), 0)
    expect(mostOf(tariffOf(model), ask)).toBe(held)
    expect(mostOf(readTariff(writeTariff(model)), ask)).toBe(held)
  })
})

describe('the call for an agent', () => {
  test.each(payloads.filter((one) => !one.includes('\0')))(
    'is one a shell takes as it is: %j',
    (said) => {
      const ask = { model: 'a/b', input: `it's ${said}`, system: "don't", max_output_tokens: 5 }
      const script = `curl() { for last; do :; done; printf %s "$last"; }\n${curlOf('http://h', ask)}`
      const { stdout } = Bun.spawnSync(['sh', '-c', script])
      expect(JSON.parse(stdout.toString())).toEqual({
        model: 'a/b',
        messages: messagesOf(ask),
        max_tokens: 5,
        stream: true,
      })
    },
  )
})

test('the call for an agent breaks between its words and after slashes, and is whole otherwise', () => {
  const call = curlOf('http://localhost:4700', {
    model: 'a/b-1',
    input: 'hi',
    max_output_tokens: 5,
  })
  const pieces = piecesOf(call)
  expect(pieces.join('')).toBe(call)
  expect(pieces).toContain('localhost:4700/')
  expect(pieces).toContain('completions')
  expect(pieces).toContain('b-1",')
})

describe('the call for an agent, with files', () => {
  test.each(payloads.filter((one) => !one.includes('\0')))(
    'reads them where it runs, and is one a shell takes as it is: %j',
    async (said) => {
      const ask: ConsoleQuestion = {
        model: 'a/b',
        input: `FILE ${said}`,
        files: [png],
        turns: [{ input: 'EOF', output: '$(exit 3) `x`', files: [png] }],
        max_output_tokens: 5,
      }
      const folder = await mkdtemp(join(tmpdir(), 'call-'))
      await Bun.write(join(folder, png.name), pngBytes)
      const script = `curl() { cat; }\n${curlOf('http://h', ask)}`
      expect(script).not.toContain(png.data.slice(30))
      const { stdout, exitCode } = Bun.spawnSync(['sh', '-c', script], { cwd: folder })
      expect(exitCode).toBe(0)
      expect(JSON.parse(stdout.toString())).toEqual({
        model: 'a/b',
        messages: messagesOf(ask),
        max_tokens: 5,
        stream: true,
      })
      await rm(folder, { recursive: true })
    },
  )
})

describe('a fault in words', () => {
  const cases: [type: string, metadata: Record<string, unknown>, what: string, charged: string][] =
    [
      [
        'upstream_error',
        { cost_nusd: 3_180_000, output_tokens: 212 },
        'The model server stopped after 212 tokens.',
        'You were charged $0.00318 for them, and the rest of the hold was released.',
      ],
      [
        'upstream_error',
        { cost_nusd: 0, output_tokens: 0 },
        'The model server stopped before any output.',
        'Nothing was charged, and the hold was released.',
      ],
      [
        'conflict',
        { cost_nusd: 1, output_tokens: 1 },
        'You stopped it after 1 token.',
        'You were charged $0.000000001 for them, and the rest of the hold was released.',
      ],
      [
        'insufficient_balance',
        {
          required_nusd: 76_800_000,
          available_nusd: 50_000_000,
          max_affordable_output_tokens: 900,
        },
        'This could cost $0.0768, but only $0.05 of the balance is available.',
        'Nothing was charged. Ask for at most 900 tokens, or top up.',
      ],
      [
        'cap_exceeded',
        { required_nusd: 2e9, available_nusd: 0, resets_at: '2026-07-02T00:00:00.000Z' },
        'This could cost $2.00, but the console may only spend $0.00 more until 2026-07-02 00:00 UTC.',
        'Nothing was charged. Ask for less, or raise the cap.',
      ],
      ['key_paused', {}, 'said', ''],
      [
        'cap_exceeded',
        { required_nusd: 'much' },
        'This could cost $0.00, but the console may only spend $0.00 more.',
        'Nothing was charged. Ask for less, or raise the cap.',
      ],
    ]
  test.each(cases)('%s %j', (type, metadata, what, charged) => {
    expect(wordsOf({ type, message: 'said', metadata })).toMatchObject({ what, charged })
  })
})

describe('what a run read', () => {
  test.each([
    [[], '0 tokens'],
    [[{ meter: 'input', quantity: 1 }], '1 token'],
    [
      [
        { meter: 'input', quantity: 20 },
        { meter: 'cache_read', quantity: 1920 },
      ],
      '1,940 tokens, 1,920 cached',
    ],
    [
      [
        { meter: 'cache_write', quantity: 5 },
        { meter: 'output', quantity: 9 },
      ],
      '5 tokens',
    ],
  ])('%j is told as %s', (lines, words) => {
    expect(inputText(lines)).toBe(words)
  })
})
