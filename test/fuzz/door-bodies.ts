import type { Json } from '../../src/kernel/canonical.ts'

/** Requests of the doors with much of what their protocols can say, for a model that takes images. */
export function doorBodies(model: string): { messages: Json[]; responses: Json[] } {
  const png = 'iVBORw0KGgo='
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } }
  const cache_control = { type: 'ephemeral', ttl: '1h' }
  const schema = { type: 'object', properties: { at: { type: 'string' } } }
  const call = { type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: 'x' } }
  const result = {
    type: 'tool_result',
    tool_use_id: 'toolu_1',
    content: [{ type: 'text', text: 'seen' }],
    is_error: true,
  }
  const reasoned = { type: 'thinking', thinking: 'So.', signature: 'c2ln' }
  const said = { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{"at":"x"}' }
  return {
    messages: [
      { model, max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], stream: true },
      {
        model,
        max_tokens: 2000,
        system: [{ type: 'text', text: 'Be short.', cache_control }],
        messages: [
          { role: 'user', content: [{ type: 'text', text: 'look', cache_control }] },
          { role: 'assistant', content: [reasoned, { type: 'text', text: 'I do.' }, call] },
          { role: 'user', content: [result, { type: 'text', text: 'And now?' }] },
        ],
        tools: [{ name: 'look', description: 'Looks.', input_schema: schema, cache_control }],
        tool_choice: { type: 'auto', disable_parallel_tool_use: true },
        thinking: { type: 'enabled', budget_tokens: 1024 },
        context_management: { edits: [{ type: 'clear_tool_uses_20250919' }, { type: 'compact' }] },
        output_config: { effort: 'low', format: { type: 'json_schema', schema } },
        metadata: { user_id: 'u' },
        stop_sequences: ['.'],
        temperature: 0.5,
        top_k: 5,
      },
      { model, max_tokens: 9, messages: [{ role: 'user', content: [image] }] },
    ],
    responses: [
      { model, input: 'hi', stream: true, max_output_tokens: 9 },
      {
        model,
        instructions: 'Be short.',
        input: [
          { role: 'developer', content: [{ type: 'input_text', text: 'look' }] },
          { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'c2Vh' },
          said,
          { type: 'function_call_output', call_id: 'call_1', output: 'seen' },
          { type: 'custom_tool_call', call_id: 'call_2', name: 'patch', input: 'x' },
          {
            type: 'custom_tool_call_output',
            call_id: 'call_2',
            output: [{ type: 'input_text', text: 'done' }],
          },
          { type: 'item_reference', id: 'rs_1' },
        ],
        tools: [
          { type: 'function', name: 'look', parameters: schema, strict: false },
          {
            type: 'custom',
            name: 'patch',
            format: { type: 'grammar', syntax: 'lark', definition: 'a' },
          },
          { type: 'web_search' },
          { type: 'namespace', name: 'n', tools: [] },
        ],
        tool_choice: { type: 'function', name: 'look' },
        parallel_tool_calls: true,
        text: { verbosity: 'low', format: { type: 'json_schema', name: 'o', schema } },
        reasoning: { effort: 'low', summary: 'auto' },
        include: ['reasoning.encrypted_content'],
        metadata: { task: 'fuzz' },
        prompt_cache_key: 'k',
        store: false,
      },
      {
        model,
        input: [
          {
            role: 'user',
            content: [{ type: 'input_image', image_url: `data:image/png;base64,${png}` }],
          },
        ],
      },
    ],
  }
}
