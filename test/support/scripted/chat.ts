/** Reads and writes OpenAI's Chat Completions as a model server does. */
import type { JsonObject } from '../../../src/kernel/json-object.ts'
import { chunkOf, frameOf } from '../runs.ts'
import type { Turn, Wire } from '../scripted-upstream.ts'
import { listOf, sum, unit } from './members.ts'

const callsOf = ({ calls }: Turn) =>
  calls.map(({ id, name, args }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }))
const reasonOf = ({ calls }: Turn) => (calls.length > 0 ? 'tool_calls' : 'stop')

export const chatWire: Wire = {
  meters: ['cache_read', 'cache_write', 'image_input', 'reasoning'],
  read(body) {
    const messages = listOf(body['messages'])
    const format = body['response_format'] as JsonObject | undefined
    return {
      model: String(body['model']),
      tools: listOf(body['tools']).map(({ function: made }) =>
        String((made as JsonObject)['name']),
      ),
      turns: messages.filter(({ role }) => role === 'assistant').length,
      hasResults: messages.at(-1)?.['role'] === 'tool',
      hasImage: JSON.stringify(messages).includes('"image_url"'),
      isJson: String(format?.['type']).startsWith('json'),
      stream: body['stream'] === true,
      text: JSON.stringify(messages),
    }
  },
  usage(units) {
    const prompt = sum(units, ['input', 'cache_read', 'cache_write', 'image_input'])
    const completion = sum(units, ['output', 'reasoning'])
    return {
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion,
      prompt_tokens_details: {
        cached_tokens: unit(units, 'cache_read'),
        cache_write_tokens: unit(units, 'cache_write'),
        image_tokens: unit(units, 'image_input'),
      },
      completion_tokens_details: { reasoning_tokens: unit(units, 'reasoning') },
    }
  },
  whole(turn, usage, model) {
    const message = {
      role: 'assistant',
      content: turn.words.length > 0 ? turn.words.join('') : null,
      ...(turn.thought ? { reasoning_content: turn.thought } : {}),
      ...(turn.calls.length > 0 ? { tool_calls: callsOf(turn) } : {}),
    }
    const choices = [{ index: 0, message, finish_reason: reasonOf(turn) }]
    return { id: 'chatcmpl-far', object: 'chat.completion', created: 1, model, choices, usage }
  },
  begin: () => chunkOf({ role: 'assistant', content: '' }),
  word: (content) => chunkOf({ content }),
  stream(turn, usage, model) {
    const frames = [this.begin(usage, model)]
    if (turn.thought) frames.push(chunkOf({ reasoning_content: turn.thought }))
    for (const content of turn.words) frames.push(chunkOf({ content }))
    callsOf(turn).forEach(({ function: made, ...call }, index) => {
      const named = { name: made.name, arguments: '' }
      frames.push(chunkOf({ tool_calls: [{ index, ...call, function: named }] }))
      for (const part of made.arguments.match(/.{1,40}/gs) ?? []) {
        frames.push(chunkOf({ tool_calls: [{ index, function: { arguments: part } }] }))
      }
    })
    frames.push(chunkOf({}, reasonOf(turn)), frameOf({ choices: [], usage }), 'data: [DONE]\n\n')
    return frames
  },
}
