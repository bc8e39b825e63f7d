import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../../src/kernel/json-object.ts'
import { messagesToChat } from '../../../src/models/protocols/messages/request-to-chat.ts'
import { toWholeResponse } from '../../../src/models/protocols/responses/chat-to-answer.ts'
import { responsesToChat } from '../../../src/models/protocols/responses/request-to-chat.ts'

const chatOf = (items: JsonObject[], more: JsonObject = {}) => {
  const { body, ignored } = responsesToChat({ model: 'm', input: items, ...more })
  return { messages: body['messages'] as JsonObject[], body, ignored }
}

const user = { role: 'user', content: 'Go on.' }
const fn = (name: string) => ({ type: 'function', name, parameters: { type: 'object' } })

describe('items of a history that Chat Completions has no place for', () => {
  test('are text of the one who said them', () => {
    const { messages, ignored } = chatOf([
      user,
      {
        type: 'web_search_call',
        id: 'ws_1',
        status: 'completed',
        action: { type: 'search', query: 'rain' },
      },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'It rains.' }] },
      {
        type: 'agent_message',
        author: 'scout',
        content: [{ type: 'input_text', text: 'Found it.' }],
      },
      { type: 'compaction', encrypted_content: 'c2VhbGVk' },
    ])
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    expect(JSON.stringify(messages[1])).toContain('query: rain')
    expect(JSON.stringify(messages[1])).toContain('It rains.')
    expect(JSON.stringify(messages[2])).toContain('Found it.')
    expect(ignored).toEqual(['input.compaction', 'input.encrypted_content'])
  })

  test('leave calls and their results beside each other', () => {
    const { messages } = chatOf([
      user,
      { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
      { type: 'shell_call', call_id: 'b', action: { commands: ['ls -l'] } },
      { type: 'shell_call_output', call_id: 'b', output: [{ stdout: 'notes.txt', stderr: '' }] },
      { type: 'function_call_output', call_id: 'a', output: 'x' },
      { type: 'local_shell_call', call_id: 'c', action: { command: ['pwd'] } },
      { type: 'local_shell_call_output', call_id: 'c', output: '/home' },
    ])
    const roles = messages.map(({ role }) => role)
    expect(roles).toEqual(['user', 'assistant', 'tool', 'user', 'assistant', 'user'])
    expect(JSON.stringify(messages[1])).toContain('ls -l')
    expect(JSON.stringify(messages[3])).toContain('notes.txt')
    expect(JSON.stringify(messages[5])).toContain('/home')
  })

  test('never refuse a request, by any name', () => {
    const types = [
      'mcp_list_tools',
      'computer_call',
      'a_type_of_tomorrow',
      'program',
      'constructor',
      '',
    ]
    for (const type of types) {
      const { messages } = chatOf([{ type, id: 'x', what: 'Words.', more: { deep: ['a'] } }, user])
      expect(JSON.stringify(messages)).toContain('Words.')
    }
    const empty = chatOf([
      { type: 'compaction_trigger' },
      user,
      { type: 'item_of_nothing', id: 'x' },
    ])
    expect(empty.messages).toEqual([user])
    expect(empty.ignored).toEqual(['input.compaction_trigger', 'input.item_of_nothing'])
  })

  test('that change the configuration are heeded', () => {
    const update = { type: 'configuration_update', reasoning: { effort: 'high' } }
    const { body, messages } = chatOf([user, update], { reasoning: { effort: 'low' } })
    expect([body['reasoning_effort'], messages]).toEqual(['high', [user]])
  })

  test('are read in a time that grows with their number, not with its square', () => {
    const timeOf = (count: number): number => {
      const calls = Array.from({ length: count }, (_, at) => ({
        type: 'function_call',
        call_id: `c${at}`,
        name: 'f',
        arguments: '{}',
      }))
      const startedAt = Bun.nanoseconds()
      const { messages } = chatOf([user, ...calls])
      expect(messages[1]?.['tool_calls']).toHaveLength(count)
      return Bun.nanoseconds() - startedAt
    }
    // The best of several: a machine that does other things delays some.
    const best = Math.min(...Array.from({ length: 8 }, () => timeOf(16_000)))
    expect(best / 1e6).toBeLessThan(150)
  })
})

describe('tools that stand in items and namespaces', () => {
  const namespace = (name: string, ...tools: JsonObject[]) => ({ type: 'namespace', name, tools })
  const additional = (...tools: JsonObject[]) => ({
    type: 'additional_tools',
    role: 'developer',
    tools,
  })

  test('are tools, each once, by their own names', () => {
    const exec = { type: 'custom', name: 'exec' }
    const item = additional(namespace('functions', exec, fn('probe')), { type: 'web_search' })
    const { body, messages, ignored } = chatOf([item, user, item])
    expect(messages).toEqual([user])
    expect((body['tools'] as JsonObject[]).map(({ type }) => type)).toEqual(['custom', 'function'])
    expect(ignored).toEqual(['tools.web_search'])
  })

  test('come back in their namespace, and go on in the history by the same name', () => {
    const asked: JsonObject = {
      model: 'm',
      tools: [namespace('mail', fn('send')), namespace('chat', fn('send'), fn('read'))],
      input: [
        user,
        { type: 'function_call', call_id: 'a', namespace: 'chat', name: 'send', arguments: '{}' },
        { type: 'function_call_output', call_id: 'a', output: 'x' },
      ],
    }
    const { body, ignored } = responsesToChat(asked)
    const names = (body['tools'] as JsonObject[]).map(
      (tool) => (tool['function'] as JsonObject)['name'],
    )
    expect([names, ignored]).toEqual([['mail__send', 'chat__send', 'read'], []])
    const tool_calls = ['chat__send', 'read', 'other'].map((name) => ({
      id: name,
      type: 'function',
      function: { name, arguments: '{}' },
    }))
    const paid = { usage: { inputTokens: 1, outputTokens: 1 }, counterfoil: {} }
    const base = { id: 'resp_1', model: 'm', createdAt: 1, asked }
    const { output } = toWholeResponse(
      base,
      { message: { tool_calls }, finish_reason: 'stop' },
      paid,
    )
    expect((output as JsonObject[]).map(({ name, namespace: of }) => [name, of])).toEqual([
      ['send', 'chat'],
      ['read', 'chat'],
      ['other', undefined],
    ])
  })

  test('that must be called and are not served refuse the request by name', () => {
    const hosted = { tools: [{ type: 'web_search' }] }
    const ask = (more: JsonObject) => () => chatOf([user], more)
    expect(ask({ ...hosted, tool_choice: 'required' })).toThrow('None of these tools')
    expect(ask({ ...hosted, tool_choice: { type: 'web_search' } })).toThrow('None of these tools')
    expect(ask(hosted)().ignored).toEqual(['tools.web_search'])
  })
})

describe('blocks of a history that Chat Completions has no place for', () => {
  const chatFrom = (content: JsonObject[], role = 'user', more: JsonObject = {}) => {
    const asked = { model: 'm', max_tokens: 9, messages: [{ role, content }], ...more }
    const { body, ignored } = messagesToChat(asked)
    return { messages: body['messages'] as JsonObject[], body, ignored }
  }

  test('are text, and members that are not text are named', () => {
    const found = {
      type: 'web_search_result',
      title: 'Weather',
      url: 'https://a.example',
      encrypted_content: 'x',
    }
    const { messages, ignored } = chatFrom(
      [
        { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'rain' } },
        { type: 'web_search_tool_result', tool_use_id: 's1', content: [found] },
        { type: 'text', text: 'It rains.' },
      ],
      'assistant',
    )
    const said = JSON.stringify(messages)
    for (const words of ['query: rain', 'title: Weather', 'https://a.example', 'It rains.']) {
      expect(said).toContain(words)
    }
    expect(ignored).toEqual(['messages.encrypted_content'])
    const user = chatFrom([
      {
        type: 'search_result',
        title: 'A',
        source: 'b',
        content: [{ type: 'text', text: 'Found.' }],
      },
      { type: 'container_upload', file_id: 'file_1' },
      { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'Page.' }] } },
    ])
    expect(JSON.stringify(user.messages)).toContain('Found.')
    expect(JSON.stringify(user.messages)).toContain('Page.')
    expect(user.ignored).toEqual(['messages.container_upload'])
  })

  test('in results of tools are text of the result', () => {
    const { messages } = chatFrom([
      {
        type: 'tool_result',
        tool_use_id: 't',
        content: [{ type: 'tool_reference', tool_name: 'plan' }],
      },
    ])
    expect(messages).toMatchObject([{ role: 'tool', tool_call_id: 't' }])
    expect(JSON.stringify(messages)).toContain('tool_name: plan')
  })

  test('tools that a client runs are functions; those of a server are named, or refused if forced', () => {
    const tools = [
      { type: 'bash_20250124', name: 'bash' },
      { type: 'web_search_20250305', name: 'web_search' },
    ]
    const text = [{ type: 'text', text: 'Hi' }]
    const { body, ignored } = chatFrom(text, 'user', { tools, tool_choice: { type: 'auto' } })
    expect(body['tools']).toMatchObject([
      { type: 'function', function: { name: 'bash', parameters: { properties: { command: {} } } } },
    ])
    expect(ignored).toEqual(['tools.web_search_20250305'])
    const forced = { tools, tool_choice: { type: 'tool', name: 'web_search' } }
    expect(() => chatFrom(text, 'user', forced)).toThrow('not served by this model')
  })

  test('media without its data is refused still', () => {
    const image = { type: 'image', source: { type: 'url', url: 'https://a.example/a.png' } }
    expect(() => chatFrom([image])).toThrow('Send the content itself')
  })
})
