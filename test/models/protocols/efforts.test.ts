import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../../src/kernel/json-object.ts'
import { chatToMessages } from '../../../src/models/protocols/messages/chat-to-request.ts'
import { messagesToChat } from '../../../src/models/protocols/messages/request-to-chat.ts'

const messages = [{ role: 'user', content: 'Hi' }]

const effortFrom = (more: JsonObject) => {
  const { body, ignored } = messagesToChat({ model: 'm', max_tokens: 9000, messages, ...more })
  return [body['reasoning_effort'] ?? null, ignored]
}

const sentFor = (more: JsonObject) => {
  const { body, ignored } = chatToMessages({ model: 'm', max_tokens: 9000, messages, ...more })
  return {
    thinking: body['thinking'],
    effort: (body['output_config'] as JsonObject)?.['effort'],
    body,
    ignored,
  }
}

describe('how much a model thinks', () => {
  test('of a request of Messages is an effort for servers of other kinds', () => {
    for (const [budget, effort] of [
      [1024, 'low'],
      [8000, 'medium'],
      [31_999, 'high'],
    ] as const) {
      expect(effortFrom({ thinking: { type: 'enabled', budget_tokens: budget } })).toEqual([
        effort,
        [],
      ])
    }
    expect(effortFrom({ output_config: { effort: 'max' } })).toEqual(['xhigh', []])
    expect(
      effortFrom({ thinking: { type: 'adaptive' }, output_config: { effort: 'low' } }),
    ).toEqual(['low', []])
    expect(effortFrom({ thinking: { type: 'disabled' } })).toEqual(['none', []])
    expect(effortFrom({ thinking: { type: 'adaptive' } })).toEqual([null, []])
  })

  test('is left to the server where a request contradicts itself, and that is named', () => {
    const both = { thinking: { type: 'disabled' }, output_config: { effort: 'low' } }
    expect(effortFrom(both)).toEqual([null, ['output_config.effort', 'thinking']])
  })

  test.each(['low', 'medium', 'high', 'xhigh'])(
    'of the effort %s is a budget below the limit',
    (effort) => {
      for (const most of [1400, 3000, 9000, 64_000]) {
        const { thinking } = sentFor({ reasoning_effort: effort, max_tokens: most })
        const { type, budget_tokens } = thinking as { type: string; budget_tokens: number }
        expect([type, budget_tokens >= 1024, budget_tokens < most]).toEqual(['enabled', true, true])
      }
      const { thinking, ignored } = sentFor({ reasoning_effort: effort, max_tokens: 1000 })
      expect([thinking, ignored]).toEqual([undefined, ['reasoning_effort']])
    },
  )

  test('is told as each generation of a model takes it', () => {
    const reasoning_effort = 'high'
    for (const model of ['claude-opus-4-7', 'anthropic/claude-sonnet-4.6', 'claude-nova-5']) {
      const { thinking, effort } = sentFor({ model, reasoning_effort })
      expect([thinking, effort]).toEqual([{ type: 'adaptive' }, 'high'])
    }
    for (const model of [
      'claude-sonnet-4-20250514',
      'claude-haiku-4-5',
      'claude-3-7-sonnet-latest',
    ]) {
      const { thinking, effort } = sentFor({ model, reasoning_effort })
      expect([thinking, effort]).toEqual([{ type: 'enabled', budget_tokens: 6750 }, undefined])
    }
  })

  test('is switched off by none and minimal', () => {
    for (const reasoning_effort of ['none', 'minimal']) {
      expect(sentFor({ reasoning_effort }).thinking).toEqual({ type: 'disabled' })
    }
  })

  test('leaves out what a thinking model does not take, by name', () => {
    const hot = sentFor({ reasoning_effort: 'low', temperature: 0.2, top_p: 1 })
    expect([hot.body['temperature'], hot.body['top_p'], hot.ignored]).toEqual([
      undefined,
      1,
      ['temperature'],
    ])
    const tools = [{ type: 'function', function: { name: 'f' } }]
    const forced = sentFor({ reasoning_effort: 'low', tools, tool_choice: 'required' })
    expect([forced.thinking, forced.ignored]).toEqual([undefined, ['reasoning_effort']])
  })

  test('is not told in a turn of tools whose reasoning was lost, which such a server would refuse', () => {
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }
    const turn = (reasoned: JsonObject): JsonObject[] => [
      ...messages,
      { role: 'assistant', content: null, tool_calls: [call], ...reasoned },
      { role: 'tool', tool_call_id: 'c', content: 'x' },
    ]
    const lost = sentFor({ reasoning_effort: 'low', messages: turn({}) })
    expect([lost.thinking, lost.ignored]).toEqual([undefined, ['reasoning_effort']])
    const details = [{ type: 'reasoning.text', text: 'Hm.', signature: 'c2ln' }]
    const kept = sentFor({
      reasoning_effort: 'low',
      messages: turn({ reasoning_details: details }),
    })
    expect(kept.thinking).toMatchObject({ type: 'enabled' })
  })
})

describe('a key of a cache before a server of Messages', () => {
  const system = { role: 'system', content: 'Be short.' }
  const marks = (body: JsonObject): number =>
    JSON.stringify(body).split('"cache_control":{"type":"ephemeral"}').length - 1
  const tools = [{ type: 'function', function: { name: 'f' } }]
  const turns = ['a', 'b', 'c'].flatMap((content) => [
    { role: 'user', content },
    { role: 'assistant', content: 'x' },
  ])

  test('is four breakpoints at most: behind tools, system and the last two turns', () => {
    const asked = {
      model: 'm',
      max_tokens: 9,
      tools,
      messages: [system, ...turns],
      prompt_cache_key: 'k',
    }
    const { body, ignored } = chatToMessages(asked)
    expect([marks(body), ignored]).toEqual([4, []])
    const said = body['messages'] as { role: string; content: JsonObject[] }[]
    expect(said.map(({ content }) => content[0]?.['cache_control'] !== undefined)).toEqual([
      ...[false, false, true, false, true, false],
    ])
  })

  test('gives none to who sets breakpoints or has no key', () => {
    const own = { type: 'text', text: 'a', cache_control: { type: 'ephemeral', ttl: '1h' } }
    const asked = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: [own] }] }
    const { body, ignored } = chatToMessages({ ...asked, prompt_cache_key: 'k' })
    expect([marks(body), ignored]).toEqual([0, ['prompt_cache_key']])
    expect(marks(chatToMessages({ model: 'm', max_tokens: 9, messages: turns }).body)).toBe(0)
  })

  test('gives breakpoints to all requests of a model that is always cached, but to those with own ones', () => {
    const asked = { model: 'm', max_tokens: 9, messages: turns }
    expect(marks(chatToMessages(asked, true).body)).toBe(2)
    const own = { type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }
    const marked = { ...asked, messages: [{ role: 'user', content: [own] }] }
    expect(marks(chatToMessages(marked, true).body)).toBe(1)
  })
})
