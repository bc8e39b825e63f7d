import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../../src/kernel/json-object.ts'
import { ChunkReader } from '../../../src/models/protocols/chat/read-chunks.ts'
import { joinChunks } from '../../../src/models/protocols/chat/whole.ts'
import { promise } from '../../support/promise.ts'

const args = (path: string): string => JSON.stringify({ path })

/** Reads chunks of one choice, each with these pieces, and a finish. */
function read(pieces: JsonObject[][], asked: { hasFunctions?: boolean; finish?: string } = {}) {
  let count = 0
  const unknown: string[] = []
  const reader = new ChunkReader({
    newId: () => `made_${count++}`,
    hasFunctions: asked.hasFunctions ?? false,
    onUnknown: (word) => unknown.push(word),
  })
  const chunks: JsonObject[] = []
  const say = (choice: JsonObject) => reader.read({ choices: [choice] }, '', chunks)
  for (const tool_calls of pieces) say({ index: 0, delta: { tool_calls }, finish_reason: null })
  say({ index: 0, delta: {}, finish_reason: asked.finish ?? 'tool_calls' })
  return { chunks: chunks as JsonObject[], unknown, whole: joinChunks(chunks as JsonObject[]) }
}

const callsIn = (whole: JsonObject) => {
  const [choice] = whole['choices'] as { message: { tool_calls?: Called[] } }[]
  return (choice?.message.tool_calls ?? []).map(({ id, type, function: f, custom }) =>
    custom ? [id, type, custom.name, custom.input] : [id, type, f?.name, f?.arguments],
  )
}
type Said = (string | undefined)[]
type Called = {
  id: string
  type: string
  function?: { name: string; arguments: string }
  custom?: { name: string; input: string }
}

const f = (name: string | undefined, text: unknown): JsonObject => ({
  function: { ...(name === undefined ? {} : { name }), arguments: text as string },
})

promise`S1`
describe('calls of tools', () => {
  const a = args('a')
  const b = args('b')
  const both: [Said, Said] = [
    ['x', 'function', 'read', a],
    ['y', 'function', 'list', b],
  ]
  const made = [
    ['made_0', 'function', 'read', a],
    ['made_1', 'function', 'list', b],
  ]
  const again = [
    ['made_0', 'function', 'read', a],
    ['made_1', 'function', 'read', b],
  ]
  const table: [what: string, pieces: JsonObject[][], calls: Said[]][] = [
    [
      'a new id is a new call, at any index',
      [[{ index: 0, id: 'x', ...f('read', a) }], [{ index: 0, id: 'y', ...f('list', b) }]],
      both,
    ],
    [
      'an id in each piece is one call',
      [
        [{ index: 0, id: 'x', ...f('read', '') }],
        [{ index: 0, id: 'x', ...f('read', a.slice(0, 3)) }],
        [{ index: 0, id: 'x', ...f('read', a.slice(3)) }],
        [{ index: 1, id: 'y', ...f('list', b) }],
      ],
      both,
    ],
    [
      'one id for two calls',
      [[{ index: 0, id: 'x', ...f('read', a) }], [{ index: 1, id: 'x', ...f('list', b) }]],
      [
        ['x', 'function', 'read', a],
        ['made_0', 'function', 'list', b],
      ],
    ],
    [
      'no index, and pieces of the last call',
      [
        [{ id: 'x', ...f('read', '') }],
        [f(undefined, a)],
        [{ id: 'y', ...f('list', '') }],
        [{ index: null, ...f(undefined, b) }],
      ],
      both,
    ],
    ['neither index nor id', [[f('read', a)], [f('list', b)]], made],
    ['neither, twice the same tool', [[f('read', a)], [f('read', b)]], again],
    [
      'neither, twice the same tool in pieces',
      [[f('read', '')], [f(undefined, a)], [f('read', '')], [f(undefined, b)]],
      again,
    ],
    ['neither, in one chunk', [[f('read', a), f('list', b)]], made],
    [
      'neither, in one chunk and in pieces',
      [
        [f('read', ''), f('list', '')],
        [f(undefined, a), f(undefined, b)],
      ],
      made,
    ],
    [
      'the name after the arguments, the id later still',
      [
        [{ index: 0, ...f(undefined, a) }],
        [{ index: 0, id: 'x', type: 'function', ...f('read', '') }],
        [{ index: 1, id: null, ...f('list', b.slice(0, 4)) }],
        [{ index: 1, id: 'y', ...f(undefined, b.slice(4)) }],
      ],
      [
        ['x', 'function', 'read', a],
        ['made_0', 'function', 'list', b],
      ],
    ],
    [
      'arguments as an object, an index as text',
      [
        [{ index: '0', id: 'x', ...f('read', { path: 'a' }) }],
        [{ index: '1', id: 'y', ...f('list', b) }],
      ],
      both,
    ],
    [
      'a whole call that is repeated at the end',
      [[{ index: 0, id: 'x', ...f('read', a) }], [{ index: 0, id: 'x', ...f('read', a) }]],
      [both[0]],
    ],
    [
      'no arguments, as text, null, an object or not at all',
      [
        [{ index: 0, id: '1', ...f('read', '') }],
        [{ index: 1, id: '2', ...f('read', null) }],
        [{ index: 2, id: '3', ...f('read', {}) }],
        [{ index: 3, id: '4', function: { name: 'read' } }],
      ],
      ['1', '2', '3', '4'].map((id) => [id, 'function', 'read', '{}']),
    ],
    [
      'a call that is written flat, and a number for an id',
      [[{ index: 0, id: 7, name: 'read', arguments: a }]],
      [['7', 'function', 'read', a]],
    ],
    [
      'a custom tool, whose input may be empty',
      [[{ index: 0, id: 'x', custom: { name: 'patch', input: '' } }]],
      [['x', 'custom', 'patch', '']],
    ],
    [
      'pieces of two calls that take turns',
      [
        [{ index: 0, id: 'x', ...f('read', '') }],
        [{ index: 1, id: 'y', ...f('list', '') }],
        [{ index: 0, ...f(undefined, a.slice(0, 5)) }],
        [{ index: 1, ...f(undefined, b.slice(0, 5)) }],
        [
          { index: 0, ...f(undefined, a.slice(5)) },
          { index: 1, ...f(undefined, b.slice(5)) },
        ],
      ],
      both,
    ],
    [
      'a call without a name',
      [[{ index: 0, id: 'x', ...f(undefined, a) }]],
      [['x', 'function', '', a]],
    ],
    [
      'a value that calls nothing',
      [[null as never, 7 as never, { index: 0, id: 'x', ...f('read', a) }]],
      [both[0]],
    ],
  ]
  test.each(table)('The calls of tools are repaired: %s.', (_, pieces, calls) => {
    const { chunks, whole } = read(pieces)
    expect(callsIn(whole)).toEqual(calls)
    // The first piece of each call has what clients build it from, and only that one.
    const seen = new Set<unknown>()
    for (const { choices } of chunks) {
      const [choice] = choices as { delta: { tool_calls?: JsonObject[] } }[]
      for (const piece of choice?.delta.tool_calls ?? []) {
        const isFirst = !seen.has(piece['index'])
        expect([typeof piece['index'], 'id' in piece]).toEqual(['number', isFirst])
        if (isFirst) expect(piece['index']).toBe(seen.size)
        seen.add(piece['index'])
      }
    }
  })

  test('Chunks in order are the very same objects.', () => {
    const reader = new ChunkReader({ newId: () => 'no' })
    const chunk = (delta: JsonObject, finish_reason: string | null = null): JsonObject => ({
      choices: [{ index: 0, delta, finish_reason }],
    })
    const given = [
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: 'a' }),
      chunk({ tool_calls: [{ index: 0, id: 'x', type: 'function', ...f('read', '') }] }),
      chunk({ tool_calls: [{ index: 1, id: 'y', type: 'function', ...f('list', '') }] }),
      chunk({ tool_calls: [{ index: 0, ...f(undefined, '{}') }] }),
      chunk({ tool_calls: [{ index: 1, ...f(undefined, '{}') }] }),
      chunk({}, 'tool_calls'),
      { choices: [], usage: { prompt_tokens: 1 } },
    ]
    const out: JsonObject[] = []
    for (const one of given) reader.read(one, '', out)
    expect(out.every((one, at) => one === given[at])).toBe(true)
    expect(reader.close(false, out)).toBe(true)
  })

  test('A call of before there were tools stays one where functions were asked for.', () => {
    const old = { name: 'read', arguments: a }
    for (const hasFunctions of [false, true]) {
      const reader = new ChunkReader({ newId: () => 'made', hasFunctions })
      const out: JsonObject[] = []
      reader.read({ choices: [{ index: 0, delta: { function_call: old } }] }, '', out)
      const said = JSON.stringify(out)
      expect([said.includes('function_call":{'), said.includes('tool_calls')]).toEqual([
        hasFunctions,
        !hasFunctions,
      ])
    }
  })

  test('Two choices have calls of their own, with ids that differ.', () => {
    let count = 0
    const reader = new ChunkReader({ newId: () => `made_${count++}` })
    const out: JsonObject[] = []
    const choice = (index: number): JsonObject => ({ index, delta: { tool_calls: [f('read', a)] } })
    reader.read({ choices: [choice(0), choice(1)] }, '', out)
    expect(JSON.stringify(out).match(/made_\d/g)).toEqual(['made_0', 'made_1'])
  })
})

describe('finish reasons', () => {
  test.each([
    ['stop', 'stop', []],
    ['STOP', 'stop', []],
    ['max_tokens', 'length', []],
    ['tool_use', 'tool_calls', []],
    ['sensitive', 'content_filter', []],
    ['brand_new', 'stop', ['brand_new']],
    ['constructor', 'stop', ['constructor']],
  ])('The finish reason %s is read as %s.', (word, finish, left) => {
    const { unknown, whole } = read([], { finish: word })
    expect([(whole['choices'] as JsonObject[])[0]?.['finish_reason'], unknown]).toEqual([
      finish,
      left,
    ])
  })
})
