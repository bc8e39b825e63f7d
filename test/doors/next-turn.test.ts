import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import type { JsonObject } from '../../src/kernel/json-object.ts'
import {
  sendJson,
  signature,
  startJsonServer,
  startMessagesUpstream,
  thought,
} from '../support/messages-upstream.ts'
import { promise } from '../support/promise.ts'
import { startResponsesUpstream } from '../support/responses-upstream.ts'
import { chunkOf, expectSettled, frameOf, modelToml, upstreamToml } from '../support/runs.ts'
import { usd, type World, world } from '../support/world.ts'

const thoughts = ['The city', ' is Rome.']
const extra_content = { google: { thought_signature: 'c2VhbA==' } }
const patch = '*** Begin\n+ "é"\n*** End'

/** Thinks, then calls the first tool; refuses a result whose turn lacks what it sealed. */
function startThinkingUpstream() {
  return startJsonServer((body, response) => {
    const messages = body['messages'] as JsonObject[]
    const [tool] = body['tools'] as { function: { name: string } }[]
    const { name = '' } = tool?.function ?? {}
    const turn = messages.find(({ role }) => role === 'assistant')
    const usage = { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 }
    if (turn) {
      const [call] = turn['tool_calls'] as JsonObject[]
      const isWhole =
        turn['reasoning_content'] === thoughts.join('') &&
        JSON.stringify(call?.['extra_content']) === JSON.stringify(extra_content)
      if (!isWhole) return sendJson(response, 400, { error: { message: 'reasoning is missing' } })
    }
    const args = JSON.stringify(name === 'patch' ? { input: patch } : { city: 'Rome' })
    const call = {
      id: 'call_1',
      type: 'function',
      function: { name, arguments: args },
      extra_content,
    }
    const message = turn
      ? { role: 'assistant', content: 'It is sunny.' }
      : {
          role: 'assistant',
          content: null,
          reasoning_content: thoughts.join(''),
          tool_calls: [call],
        }
    const finish = turn ? 'stop' : 'tool_calls'
    if (body['stream'] !== true) {
      return sendJson(response, 200, {
        choices: [{ index: 0, message, finish_reason: finish }],
        usage,
      })
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    if (turn) response.write(chunkOf({ content: 'It is sunny.' }))
    else {
      for (const piece of thoughts) response.write(chunkOf({ reasoning_content: piece }))
      response.write(chunkOf({ tool_calls: [{ index: 0, ...call }] }))
    }
    response.write(chunkOf({}, finish))
    return response.end(`${frameOf({ choices: [], usage })}data: [DONE]\n\n`)
  })
}

const question = 'How is the weather?'
const parameters = { type: 'object' as const, properties: { city: { type: 'string' } } }

promise`S7 H: Reasoning that a server wants back survives every door, whole and streamed; that of
  another model does not go on.`
describe('what a server wants back with the next turn', () => {
  let servers: Awaited<ReturnType<typeof startJsonServer>>[]
  let w: World
  let secret: string
  let anthropic: Anthropic
  let openai: OpenAI

  beforeAll(async () => {
    servers = [
      await startThinkingUpstream(),
      await startMessagesUpstream(),
      await startResponsesUpstream(),
    ]
    const [chat, messages, responses] = servers.map(({ url }) => url)
    const toml = [
      upstreamToml('chat', chat ?? ''),
      upstreamToml('messages', messages ?? '', 'kind = "anthropic"'),
      upstreamToml('responses', responses ?? '', 'kind = "responses"'),
      modelToml('test/chat', '"chat:thinker"'),
      modelToml('test/messages', '"messages:claude-opus-4-7"'),
      modelToml('test/responses', '"responses:thinker"'),
    ]
    w = await world({ toml: toml.join('\n') })
    ;({ secret } = await w.key({ balance: 100n * usd }))
    const fetch = async (url: string | URL | Request, init?: RequestInit) => {
      const { pathname, search } = new URL(url instanceof Request ? url.url : url)
      return w.call(pathname + search, init)
    }
    const ours = { baseURL: 'http://localhost:4663', maxRetries: 0, fetch }
    anthropic = new Anthropic({ ...ours, authToken: secret, apiKey: null })
    openai = new OpenAI({ ...ours, baseURL: `${ours.baseURL}/v1`, apiKey: secret })
  })
  afterAll(async () => {
    await expectSettled(w)
    await w.stop()
    for (const server of servers) await server.stop()
  })

  const sentTo = (wire: 'chat' | 'messages' | 'responses'): JsonObject =>
    servers[['chat', 'messages', 'responses'].indexOf(wire)]?.seen.at(-1)?.body ?? {}

  describe.each([false, true])('streamed: %p', (isStreamed) => {
    const asked = {
      max_tokens: 4000,
      tools: [{ name: 'weather', input_schema: parameters }],
      messages: [{ role: 'user' as const, content: question }],
    }
    const message = async (body: Anthropic.MessageCreateParamsNonStreaming) =>
      isStreamed ? anthropic.messages.stream(body).finalMessage() : anthropic.messages.create(body)

    const loopOfMessages = async (model: string) => {
      const first = await message({ ...asked, model })
      const call = first.content.find((block) => block.type === 'tool_use')
      const result = { type: 'tool_result' as const, tool_use_id: call?.id ?? '', content: '31' }
      const messages = [
        ...asked.messages,
        { role: 'assistant' as const, content: first.content as Anthropic.ContentBlockParam[] },
        { role: 'user' as const, content: [result] },
      ]
      return { first, second: await message({ ...asked, model, messages }) }
    }

    const tools = [{ type: 'function' as const, name: 'weather', parameters, strict: false }]
    const respond = async (body: JsonObject) => {
      const whole = body as unknown as OpenAI.Responses.ResponseCreateParamsNonStreaming
      if (!isStreamed) return openai.responses.create(whole)
      return openai.responses.stream(body as never).finalResponse()
    }
    const loopOfResponses = async (model: string, more: JsonObject = {}) => {
      const first = await respond({ model, input: question, tools, ...more })
      const call = first.output.find((item) => item.type === 'function_call')
      const result = {
        type: 'function_call_output',
        call_id: call?.type === 'function_call' ? call.call_id : '',
        output: '31',
      }
      const input = [{ role: 'user', content: question }, ...first.output, result]
      return { first, second: await respond({ model, input: input as never, tools, ...more }) }
    }

    test('passes Messages before Chat Completions, and its reasoning is shown', async () => {
      const { first, second } = await loopOfMessages('test/chat')
      expect(first.content.map(({ type }) => type)).toEqual(['thinking', 'tool_use'])
      expect(first.content[0]).toMatchObject({ thinking: thoughts.join('') })
      expect(second.content).toMatchObject([{ type: 'text', text: 'It is sunny.' }])
    })

    test('passes Messages before Responses', async () => {
      const { second } = await loopOfMessages('test/responses')
      expect(second.content.some(({ type }) => type === 'text')).toBe(true)
      expect(sentTo('responses')['input']).toContainEqual({
        ...{ type: 'reasoning', id: 'rs_far', summary: [] },
        encrypted_content: 'c2VhbGVk',
      })
    })

    test('passes Responses before Chat Completions, and its reasoning is shown', async () => {
      const { first, second } = await loopOfResponses('test/chat')
      const [reasoning] = first.output
      expect(reasoning).toMatchObject({
        type: 'reasoning',
        status: 'completed',
        summary: [{ type: 'summary_text', text: thoughts.join('') }],
      })
      expect(second.output_text).toBe('It is sunny.')
    })

    test('passes Responses before Messages: the signature with its text', async () => {
      const { first } = await loopOfResponses('test/messages', { reasoning: { effort: 'high' } })
      expect(first.output[0]).toMatchObject({ summary: [{ text: thought }] })
      const [, turn] = sentTo('messages')['messages'] as { content: JsonObject[] }[]
      expect(turn?.content[0]).toEqual({ type: 'thinking', thinking: thought, signature })
    })

    test('passes Chat Completions before Messages: the signature with its text', async () => {
      const model = 'test/messages'
      const messages = [{ role: 'user' as const, content: question }]
      const chatTools = [{ type: 'function' as const, function: { name: 'weather', parameters } }]
      const asking = { model, messages, tools: chatTools, reasoning_effort: 'high' as const }
      const first = isStreamed
        ? await openai.chat.completions.stream(asking).finalChatCompletion()
        : await openai.chat.completions.create(asking)
      const turn = first.choices[0]?.message
      const { parsed: _, ...sent } = { parsed: undefined, ...turn }
      const result = { role: 'tool', tool_call_id: turn?.tool_calls?.[0]?.id ?? '', content: '31' }
      const more = [...messages, sent as never, result as never]
      await openai.chat.completions.create({ ...asking, messages: more })
      const [, said] = sentTo('messages')['messages'] as { content: JsonObject[] }[]
      expect(said?.content[0]).toEqual({ type: 'thinking', thinking: thought, signature })
    })

    test('a freeform tool before Chat Completions is called as one', async () => {
      const custom = [{ type: 'custom', name: 'patch', description: 'Changes files.' }]
      const { output } = await respond({ model: 'test/chat', input: question, tools: custom })
      const call = output.find((item) => item.type === 'custom_tool_call')
      expect(call).toMatchObject({ name: 'patch', input: patch, call_id: 'call_1' })
      expect(sentTo('chat')['tools']).toMatchObject([{ type: 'function' }])
    })
  })
})
