/** The texts of a Responses stream, each of which comes several times. */
import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/kernel/json-object.ts'
import { StreamTexts } from '../../src/runs/stream-texts.ts'

const said = (text: string): JsonObject => ({ type: 'output_text', text })
const thought = (text: string): JsonObject => ({ type: 'summary_text', text })
const message = (...content: JsonObject[]): JsonObject => ({ type: 'message', content })
const done = (item: JsonObject, at = 0): JsonObject => ({
  type: 'response.output_item.done',
  output_index: at,
  item,
})
const completed = (...output: JsonObject[]): JsonObject => ({
  type: 'response.completed',
  response: { output },
})
const delta = (text: string, more: JsonObject = {}): JsonObject => ({
  ...{ type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: text },
  ...more,
})

/** Whether all events say the same texts. */
const agree = (...events: JsonObject[]): boolean => {
  const texts = new StreamTexts()
  return events.every((event) => texts.agree(event))
}

describe('The texts of a stream', () => {
  test('agree where each comes again as it was said', () => {
    const item = message(said('one'), said('two'))
    const second = delta('two', { content_index: 1 })
    expect(agree(delta('o'), delta('ne'), second, done(item), completed(item))).toBe(true)
  })

  test('do not agree where one is another text later, or is missing', () => {
    expect(agree(delta('one'), done(message(said('two'))))).toBe(false)
    expect(agree(delta('one'), done(message()))).toBe(false)
    expect(agree(done(message(said('one'))), completed(message(said('two'))))).toBe(false)
  })

  test('are compared by the part and the item that they stand in', () => {
    const parts = [said('one'), said('two')]
    expect(agree(done(message(...parts)), completed(message(...parts.toReversed())))).toBe(false)
    const [first, second] = [message(said('one')), message(said('two'))]
    expect(agree(done(first), done(second, 1), completed(first, second))).toBe(true)
    expect(agree(done(first), done(second, 1), completed(second, first))).toBe(false)
    const reasoning = { type: 'reasoning', summary: [thought('a'), thought('b')], content: [] }
    expect(agree(done(reasoning), completed(reasoning))).toBe(true)
  })
})

describe('Twice as much takes twice as long to compare', () => {
  const numbers = (n: number): number[] => Array.from({ length: n }, (_, i) => i)
  const ofParts = (n: number) => {
    const item = message(...numbers(n).map((i) => said(`part ${i}`)))
    return [done(item), completed(item)]
  }
  const ofItems = (n: number) => {
    const items = numbers(n).map((i) => message(said(`item ${i}`)))
    return [...items.map(done), completed(...items)]
  }
  /** The shortest of a few times, in ms of the processor: other tests run beside this one. */
  const timeOf = (events: JsonObject[]): number => {
    const times = [0, 1, 2].map(() => {
      const before = process.cpuUsage()
      expect(agree(...events)).toBe(true)
      const { user, system } = process.cpuUsage(before)
      return (user + system) / 1000
    })
    return Math.min(...times)
  }

  test.each([
    ['for the parts of an item', ofParts],
    ['for the items of a response', ofItems],
  ])('%s', (_, of) => {
    agree(...of(8_000))
    const [n, twoN] = [timeOf(of(16_000)), timeOf(of(32_000))]
    // Squares took four times as long; garbage and neighbours take the rest.
    expect(twoN).toBeLessThan(3 * n + 50)
    expect(n).toBeLessThan(500)
  })
})
