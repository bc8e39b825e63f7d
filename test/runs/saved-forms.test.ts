import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/kernel/json-object.ts'
import { readingsOf } from '../../src/runs/saved-answer.ts'
import { promise } from '../support/promise.ts'

const choices = [
  { index: 0, message: { role: 'assistant', content: 'yes' }, finish_reason: 'stop' },
]
const content = [{ type: 'text', text: 'yes' }]
const output = [
  { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'yes' }] },
]

/** An answer of each form, whole. */
const wholes: Record<string, JsonObject> = {
  completion: { object: 'chat.completion', choices },
  message: { type: 'message', role: 'assistant', content, stop_reason: 'end_turn' },
  response: { object: 'response', status: 'completed', output },
  run: { object: 'run', output: choices },
  embeddings: { object: 'list', data: [{ index: 0, embedding: [1] }] },
}

const frame = (event: JsonObject): string => `data: ${JSON.stringify(event)}\n\n`
const chat = frame({ choices: [{ index: 0, delta: { content: 'yes' }, finish_reason: 'stop' }] })
const messageEvents: JsonObject[] = [
  { type: 'message_start', message: { role: 'assistant', content: [] } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'yes' } },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
]
const message = messageEvents.map(frame).join('')
const responseEvents: JsonObject[] = [
  { type: 'response.created', response: { status: 'in_progress', output: [] } },
  { type: 'response.output_item.done', output_index: 0, item: output[0] ?? {} },
  { type: 'response.completed', response: { status: 'completed', output } },
]
const response = responseEvents.map(frame).join('')
const streams = { chat, message, response }

describe.each(Object.entries(wholes))('a saved %s', (_, whole) => {
  const text = JSON.stringify(whole)

  promise`T5`
  test('is read where it says one thing', () => {
    expect(readingsOf(text)).not.toEqual([null])
    expect(readingsOf(text).length).toBeGreaterThan(0)
  })

  test('that also says something in the form of another answer fits no receipt', () => {
    const others = Object.values(wholes)
      .flatMap((other) => Object.entries(other))
      .filter(([name]) => ['choices', 'content', 'output', 'data'].includes(name))
    for (const [name, value] of others) {
      if (whole[name] !== undefined) continue
      const forged = JSON.stringify({ ...whole, [name]: value })
      expect([name, readingsOf(forged)]).toEqual([name, [null]])
    }
  })

  test('with a member given twice fits no receipt, wherever it stands', () => {
    for (const [, name = ''] of text.matchAll(/"([a-z_]+)":/g)) {
      const twice = text.replace(`"${name}":`, `"${name}":"no","${name}":`)
      expect([name, readingsOf(twice)]).toEqual([name, [null]])
    }
  })
})

describe.each(Object.entries(streams))('a saved stream of kind %s', (name, text) => {
  test('is read with comments, names of events and any line ends', () => {
    const plain = readingsOf(text)
    expect(plain).not.toEqual([null])
    const marked = `: hello\n\n${text.replaceAll('data:', 'event: e\nid: 1\ndata:')}data: [DONE]\n\n`
    for (const same of [
      marked,
      text.replaceAll('\n', '\r\n'),
      text.replaceAll('data: ', 'data:'),
    ]) {
      expect(readingsOf(same)).toEqual(plain)
    }
    const split = text.replaceAll(',"', ',\ndata: "')
    expect(readingsOf(split)).toEqual(plain)
  })

  test('with words outside of its events fits no receipt', () => {
    const twice = `{"a":"no","a":"yes"}`
    for (const words of [
      'no',
      'data: no',
      'data: "no"',
      'datum: no',
      `data: ${twice}`,
      ' data: 1',
    ]) {
      for (const forged of [`${words}\n\n${text}`, `${text}${words}\n\n`, `${text}${words}`]) {
        // An event without words at the beginning makes it no answer at all.
        expect([words, readingsOf(forged).filter((value) => value !== null)]).toEqual([words, []])
      }
    }
  })

  test('with events of another kind fits no receipt', () => {
    for (const [kind, other] of Object.entries(streams)) {
      if (kind === name) continue
      expect([kind, readingsOf(text + other)]).toEqual([kind, [null]])
    }
  })
})
