import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Json } from '../../src/kernel/canonical.ts'
import { readUsage } from '../../src/models/reported.ts'
import { mergeUsage } from '../../src/models/usage-merge.ts'

const after = (...reports: Json[]): Json | undefined =>
  reports.reduce<Json | undefined>((so, one) => mergeUsage(so, one), undefined)

const chat = { prompt_tokens: 60, completion_tokens: 9, total_tokens: 69 }
const cached = { ...chat, prompt_tokens_details: { cached_tokens: 40 } }

describe('the reports of a stream', () => {
  const table: [what: string, reports: Json[], merged: Json][] = [
    ['of one are that one', [chat], chat],
    ['that repeat are one', [cached, cached], cached],
    [
      'that grow are the last',
      [chat, { prompt_tokens: 60, completion_tokens: 12, total_tokens: 72 }],
      { prompt_tokens: 60, completion_tokens: 12, total_tokens: 72 },
    ],
    ['whose last is empty are the one before', [cached, {}], cached],
    ['whose last is null inside are the one before', [cached, { prompt_tokens: null }], cached],
    [
      'whose last is of zeros are the one before',
      [
        cached,
        {
          ...{ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
          prompt_tokens_details: { cached_tokens: 0 },
        },
      ],
      cached,
    ],
    ['whose last is text are the one before', [chat, { prompt_tokens: '3' }], chat],
    ['whose details come last have them', [chat, cached], cached],
    [
      'whose details come alone have them',
      [chat, { prompt_tokens_details: { cached_tokens: 40 } }],
      cached,
    ],
    ['that repeat a total keep its details', [cached, chat], cached],
    [
      'with another total have no old details',
      [cached, { prompt_tokens: 80, completion_tokens: 9 }],
      { prompt_tokens: 80, completion_tokens: 9 },
    ],
    [
      'in halves are both',
      [{ input_tokens: 7, cache_read_input_tokens: 30 }, { output_tokens: 4 }],
      { input_tokens: 7, cache_read_input_tokens: 30, output_tokens: 4 },
    ],
  ]
  for (const [what, reports, merged] of table) {
    test(what, () => expect(after(...reports)).toEqual(merged))
  }

  test('with an empty one after a real one are that very one', () => {
    const all: Json[] = [{}, null, [], 'none', { prompt_tokens: null }]
    for (const empty of all) {
      expect(mergeUsage(chat, empty)).toBe(chat)
    }
  })
})

describe('the split of what was written to a cache', () => {
  const start = (minutes: number, hours: number) => ({
    input_tokens: 5,
    output_tokens: 1,
    cache_read_input_tokens: 100,
    cache_creation_input_tokens: minutes + hours,
    cache_creation: { ephemeral_5m_input_tokens: minutes, ephemeral_1h_input_tokens: hours },
  })
  const end = (written: number) => ({
    input_tokens: 5,
    output_tokens: 9,
    cache_read_input_tokens: 100,
    cache_creation_input_tokens: written,
  })
  const classesOf = (usage: Json | undefined) => readUsage('messages', usage).classes

  test('stays where the later total is the same', () => {
    const merged = after(start(20, 30), end(50))
    expect(classesOf(merged)).toEqual({ cache_read: 100, cache_write: 20, cache_write_1h: 30 })
  })

  test('goes where the later total is another', () => {
    for (const first of [start(0, 0), start(20, 30), start(0, 30)]) {
      const merged = after(first, end(70))
      expect(classesOf(merged)).toEqual({ cache_read: 100, cache_write: 70 })
      expect(readUsage('messages', merged).contradicts.input).toBe(false)
    }
  })

  test('and its total survive an end that reports the output alone, or zeros', () => {
    const zeros = { ...end(0), input_tokens: 0, cache_read_input_tokens: 0 }
    for (const last of [{ output_tokens: 9 }, zeros]) {
      expect(after(start(20, 30), last)).toEqual({ ...start(20, 30), output_tokens: 9 })
    }
  })
})

test('No order of repeated and empty reports bills more or less than the last real one.', () => {
  const real = fc.record({
    prompt_tokens: fc.integer({ min: 1, max: 500 }),
    completion_tokens: fc.integer({ min: 1, max: 500 }),
  })
  const blank = fc.constantFrom<Json>({}, null, { prompt_tokens: 0, completion_tokens: 0 }, [])
  fc.assert(
    fc.property(real, fc.array(fc.oneof(real, blank)), real, fc.array(blank), (a, some, b, end) => {
      const merged = after(a as Json, ...some, b as Json, ...end)
      expect(readUsage('chat', merged)).toEqual(readUsage('chat', b as Json))
    }),
  )
})
