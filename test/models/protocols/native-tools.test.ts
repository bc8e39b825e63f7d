import { describe, expect, test } from 'bun:test'
import type { Json } from '../../../src/kernel/canonical.ts'
import type { JsonObject } from '../../../src/kernel/json-object.ts'
import { Refusal } from '../../../src/kernel/refusal.ts'
import { echoModel } from '../../../src/models/builtins.ts'
import type { Model } from '../../../src/models/model.ts'
import { boundOfNative } from '../../../src/models/protocols/native/bound.ts'
import { type Native, nativeOf, nativeRequest } from '../../../src/models/protocols/native.ts'
import { holdLines, makePrices } from '../../../src/models/rates.ts'
import { promise } from '../../support/promise.ts'

const model: Model = {
  ...echoModel,
  verifiable: 'none',
  contextTokens: 10_000,
  maxOutputTokens: 1000,
}
const own = { inputPusd: 1_000_000n, outputPusd: 5_000_000n, requestNusd: 0n }
const classes = { web_search: 10_000_000_000n }
const searching: Model = { ...model, prices: makePrices(own, { classes, bands: [], tiers: [] }) }

const read = (protocol: Native['protocol'], body: JsonObject, as: Model = model): Native =>
  nativeOf(protocol, body, { headers: new Headers(), model: as })

const sent = (native: Native) => nativeRequest(native, { model: 'far', maxTokens: 5 })

const responses = (more: JsonObject, as?: Model) => read('responses', { input: 'a', ...more }, as)
const messages = (more: JsonObject, as?: Model) =>
  read('messages', { max_tokens: 50, messages: [{ role: 'user', content: 'a' }], ...more }, as)

function paramOf(run: () => unknown): string | undefined {
  try {
    run()
  } catch (error) {
    if (error instanceof Refusal) return error.detail.param
    throw error
  }
  return undefined
}

const ofTypes = (...types: string[]): Json[] => types.map((type) => ({ type, name: type }))

promise`E16`
test('A namespace of tools goes on only if the caller runs all that is in it.', () => {
  const namespace = (...types: string[]) => ({
    type: 'namespace',
    name: 'mcp',
    tools: ofTypes(...types),
  })
  const [own, mixed] = [namespace('function', 'custom'), namespace('function', 'web_search')]
  const { body, ignored } = sent(responses({ tools: [own, mixed] }))
  expect(body['tools']).toEqual([own])
  expect(ignored).toEqual(['tools.namespace'])
})

describe('Tools that the caller runs go on as they came, known or not:', () => {
  test.each([
    'bash_20250124',
    'text_editor_20250728',
    'computer_20251124',
    'memory_20250818',
    'never_heard_of_20990101',
  ])('The tool %s of Messages goes on as it came.', (type) => {
    const tools = [{ type, name: 'x', more: { a: 1 } }]
    const native = messages({ tools })
    expect(sent(native)).toMatchObject({ body: { tools }, ignored: [] })
    // Their vendor describes them to the model at more length than they have here.
    expect(boundOfNative(model, native).inputTokens).toBeGreaterThan(1500)
  })

  test.each(['local_shell', 'apply_patch', 'computer', 'tool_search', 'never_heard_of'])(
    '%s of Responses',
    (type) => {
      const tools = [{ type, more: [1] }]
      expect(sent(responses({ tools }))).toMatchObject({ body: { tools }, ignored: [] })
    },
  )

  test('a shell beside the caller does, and one in a container is refused.', () => {
    const shell = (type: string) => ({ tools: [{ type: 'shell', environment: { type } }] })
    expect(sent(responses(shell('local'))).body).toMatchObject(shell('local'))
    expect(paramOf(() => responses(shell('container_auto')))).toBe('tools[0].type')
  })
})

promise`S2`
describe('Tools that the model server would run and bill are refused by name without a rate:', () => {
  test.each(['web_search_20250305', 'code_execution_20250825', 'mcp_toolset', 'advisor_20260301'])(
    '%s of Messages',
    (type) => {
      expect(paramOf(() => messages({ tools: ofTypes('custom', type) }))).toBe('tools[1].type')
    },
  )

  test.each(['code_interpreter', 'file_search', 'mcp'])('%s of Responses', (type) => {
    expect(paramOf(() => responses({ tools: ofTypes(type) }))).toBe('tools[0].type')
  })

  test('also where they join in the middle of a conversation.', () => {
    const item = { type: 'additional_tools', tools: ofTypes('function', 'mcp') }
    expect(paramOf(() => responses({ input: [item] }))).toBe('input[0].tools[1].type')
    const definition = { type: 'web_search_20260318', name: 'web_search' }
    const block = { type: 'tool_addition', tool: { type: 'tool_definition', definition } }
    const turn = { role: 'user', content: [block] }
    expect(paramOf(() => messages({ messages: [turn] }))).toBe('messages[0].content[0].tool.type')
  })
})

describe('Tools that agents offer unasked', () => {
  const tools = ofTypes('function', 'web_search', 'image_generation')

  test('stay behind and are named, in the request and in its items.', () => {
    const item = { type: 'additional_tools', role: 'developer', tools }
    const native = responses({ tools, tool_choice: 'auto', input: [item] })
    const left = ofTypes('function')
    expect(sent(native).body).toMatchObject({ tools: left, input: [{ ...item, tools: left }] })
    expect(new Set(native.ignored)).toEqual(new Set(['tools.web_search', 'tools.image_generation']))
  })

  test('leave no choice behind where no tool is left.', () => {
    const native = responses({ tools: ofTypes('web_search'), tool_choice: 'auto' })
    expect(sent(native).body).not.toHaveProperty('tools')
    expect(native.ignored).toEqual(['tool_choice', 'tools.web_search'])
  })

  test.each<[string, Json]>([
    ['by its type', { type: 'web_search' }],
    ['by another name of it', { type: 'web_search_preview' }],
    [
      'as the only one allowed',
      { type: 'allowed_tools', mode: 'required', tools: ofTypes('image_generation') },
    ],
  ])('are refused where tool_choice forces one %s.', (_, choice) => {
    expect(paramOf(() => responses({ tools, tool_choice: choice }))).toBe('tool_choice')
  })

  test('are refused where a tool is required and there is no other.', () => {
    const body = { tools: ofTypes('web_search'), tool_choice: 'required' }
    expect(paramOf(() => responses(body))).toBe('tool_choice')
  })

  test('leave the choice among the others as it is.', () => {
    const allowed = { type: 'allowed_tools', mode: 'auto', tools }
    const native = responses({ tools, tool_choice: allowed })
    expect(native.members['tool_choice']).toEqual({ ...allowed, tools: ofTypes('function') })
    const alone = { ...allowed, tools: ofTypes('web_search') }
    expect(responses({ tools, tool_choice: alone }).members['tool_choice']).toBe('none')
  })
})

describe('Where searches have a rate,', () => {
  const web = { type: 'web_search_20250305', name: 'web_search' }

  test('they go on with a limit, of the client or of ours, and are held for.', () => {
    const ours = messages({ tools: [web] }, searching)
    const theirs = messages({ tools: [{ ...web, max_uses: 2 }] }, searching)
    expect(ours.members['tools']).toEqual([{ ...web, max_uses: 5 }])
    expect(theirs.members['tools']).toEqual([{ ...web, max_uses: 2 }])
    const bound = boundOfNative(searching, theirs)
    expect(bound.webSearches).toBe(2)
    // Each may fill the context once more, which is then no limit of both sides together.
    expect(bound.inputTokens).toBeGreaterThan(2 * (model.contextTokens - 1))
    expect(bound).not.toHaveProperty('contextTokens')
    const line = { meter: 'web_search', quantity: 2, pricePusd: 10_000_000_000n }
    expect(holdLines(searching.prices, 'chat', bound)).toContainEqual(line as never)
  })

  test('those of Responses share the limit of all calls.', () => {
    const tools = ofTypes('web_search')
    const ours = responses({ tools }, searching)
    expect(ours.members).toMatchObject({ tools, max_tool_calls: 5 })
    const theirs = responses({ tools, max_tool_calls: 3 }, searching)
    expect(theirs.members).toMatchObject({ max_tool_calls: 3 })
    expect([ours.searches, theirs.searches]).toEqual([5, 3])
    expect(paramOf(() => responses({ tools, max_tool_calls: 1e9 }, searching))).toBe(
      'max_tool_calls',
    )
  })

  test('pages are read with a bound of their tokens and number alone.', () => {
    const fetching = { type: 'web_fetch_20250910', name: 'web_fetch', max_uses: 2 }
    expect(paramOf(() => messages({ tools: [fetching] }))).toBe('tools[0]')
    const native = messages({ tools: [{ ...fetching, max_content_tokens: 900 }] })
    const { inputTokens, webSearches } = boundOfNative(model, native)
    expect(inputTokens).toBeGreaterThan(2 * (model.contextTokens - 1))
    expect(webSearches).toBeUndefined()
  })
})
