/** Conversations in the shape of Chat Completions that every protocol here can say. */
import fc from 'fast-check'
import type { JsonObject } from '../../../src/kernel/json-object.ts'

const words = fc.string({ minLength: 1, maxLength: 20 }).filter((text) => text.trim() !== '')
const name = fc.stringMatching(/^[a-z][a-z0-9_]{0,12}$/)
const image = fc.constantFrom('image/png', 'image/jpeg').map((type) => ({
  type: 'image_url',
  image_url: { url: `data:${type};base64,iVBORw0KGgo=` },
}))
const textPart = words.map((text) => ({ type: 'text', text }))
const file = words.map((filename) => ({
  type: 'file',
  file: { filename, file_data: 'data:application/pdf;base64,JVBERi0=' },
}))
const parts = fc.array(fc.oneof(textPart, image, file), { minLength: 1, maxLength: 3 })
const args = fc.dictionary(name, fc.oneof(words, fc.integer(), fc.boolean()), { maxKeys: 3 })

/** A turn of the assistant, with or without calls, and the results of its calls. */
const turn = fc
  .record({
    say: fc.option(words, { nil: undefined }),
    calls: fc.array(fc.record({ name, args, result: words }), { maxLength: 3 }),
    ask: parts,
  })
  .map(({ say, calls, ask }, at = 0) => ({ say, calls, ask, at }))

/** What is the same in every protocol: texts as lists of parts, calls numbered through. */
export const conversation: fc.Arbitrary<JsonObject[]> = fc
  .record({
    system: fc.option(words, { nil: undefined }),
    first: parts,
    turns: fc.array(turn, { maxLength: 3 }),
  })
  .map(({ system, first, turns }) => {
    const messages: JsonObject[] = []
    if (system !== undefined) {
      messages.push({ role: 'system', content: [{ type: 'text', text: system }] })
    }
    messages.push({ role: 'user', content: first })
    let count = 0
    for (const { say, calls, ask } of turns) {
      if (say === undefined && calls.length === 0) continue
      const made = calls.map((call) => ({ ...call, id: `call_${count++}` }))
      const toolCalls = made.map(({ id, name: tool, args: input }) => ({
        id,
        type: 'function',
        function: { name: tool, arguments: JSON.stringify(input) },
      }))
      const content = say === undefined ? null : [{ type: 'text', text: say }]
      messages.push({
        role: 'assistant',
        content,
        ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
      })
      for (const { id, result } of made) {
        messages.push({ role: 'tool', tool_call_id: id, content: [{ type: 'text', text: result }] })
      }
      messages.push({ role: 'user', content: ask })
    }
    return messages
  })

/** A whole request with tools. */
export const request: fc.Arbitrary<JsonObject> = fc
  .record({
    messages: conversation,
    tools: fc.uniqueArray(name, { minLength: 1, maxLength: 3 }),
    tool_choice: fc.constantFrom('required', 'none'),
    temperature: fc.integer({ min: 0, max: 10 }).map((tenth) => tenth / 10),
    max_tokens: fc.integer({ min: 1, max: 4000 }),
  })
  .map(({ tools, max_tokens, ...rest }) => ({
    model: 'acme/large',
    ...rest,
    max_completion_tokens: max_tokens,
    tools: tools.map((tool) => ({
      type: 'function',
      function: {
        name: tool,
        description: `What ${tool} does.`,
        parameters: { type: 'object', properties: { at: { type: 'string' } } },
        strict: true,
      },
    })),
  }))
