/** Items, tools and events of OpenAI's Responses, for the reference and typed clients. */
import * as t from '../../../web/http/shape.ts'

const said = 'Every run leaves a receipt.'

const inputPart = t.choice('InputPart', 'A part of an input.', [
  t.object('Text.', {
    type: t.oneOf('`output_text`: what the model said before.', ['input_text', 'output_text']),
    text: t.text('The text.', said),
    'annotations?': t.anything('As they came.', []),
    'logprobs?': t.anything('As they came.', []),
  }),
  t.object('An image.', {
    type: t.only('input_image'),
    image_url: t.text('A `data:` URL in base64.', 'data:image/png;base64,iVBORw0KGgo='),
    'detail?': t.oneOf('Passed on.', ['auto', 'low', 'high']),
  }),
  t.object('A PDF.', {
    type: t.only('input_file'),
    file_data: t.text('A `data:` URL in base64.', 'data:application/pdf;base64,JVBERi0='),
    'filename?': t.text('Its name.', 'receipt.pdf'),
  }),
  t.object('Why the model declined.', {
    type: t.only('refusal'),
    refusal: t.text('The text.', 'I cannot help with that.'),
  }),
])

const status = { 'status?': t.text('`completed`; `in_progress` while it comes.', 'completed') }
const itemId = t.text('Id of the item.', 'fc_01k1j8dq00b4d6f8h1k3m5p7r9_0')
const callId = t.text('Comes back with what the tool answered.', 'call_1')
const namespace = { 'namespace?': t.text('The namespace of the tool.', 'functions') }
const toolName = t.text('Name of the tool.', 'read_file')
const reasoning = {
  type: t.only('reasoning'),
  'summary?': t.anything('What it says of itself.', []),
  'content?': t.anything('As it came.', null),
  'encrypted_content?': t.orNull(t.text('Sealed: send it as it came.', '…')),
  ...status,
}
const call = {
  type: t.only('function_call'),
  call_id: callId,
  name: toolName,
  arguments: t.text('JSON, as the model wrote it.', '{"path":"README.md"}'),
  ...namespace,
  ...status,
}
const customCall = {
  type: t.only('custom_tool_call'),
  call_id: callId,
  name: toolName,
  input: t.text('Text, as the model wrote it.', '…'),
  ...namespace,
  ...status,
}
const output = t.either('Text, or parts.', [t.text('', said), t.list(inputPart, 'Parts.')])

export const inputItemShape = t.choice('InputItem', 'An item of an input.', [
  t.object('A message.', {
    'type?': t.only('message'),
    'id?': t.text('As it came.', 'msg_1'),
    role: t.oneOf('Who says it.', ['user', 'assistant', 'system', 'developer']),
    content: t.either('Text, or parts.', [t.text('', said), t.list(inputPart, 'Parts.')]),
    ...status,
  }),
  t.object('A call of a tool, as it came.', { 'id?': itemId, ...call }),
  t.object('What the tool answered.', {
    type: t.only('function_call_output'),
    'id?': itemId,
    call_id: callId,
    output,
    ...status,
  }),
  t.object('A call of a custom tool, as it came.', { 'id?': itemId, ...customCall }),
  t.object('What the custom tool answered.', {
    type: t.only('custom_tool_call_output'),
    'id?': itemId,
    call_id: callId,
    output,
  }),
  t.object('Reasoning, as it came.', { 'id?': itemId, ...reasoning }),
  t.object('An item of a kept response.', {
    type: t.only('item_reference'),
    id: t.text('Its id.', 'msg_01k1j8dq00b4d6f8h1k3m5p7r9_0'),
  }),
])

const outputPart = t.either('', [
  t.object('Text.', {
    type: t.only('output_text'),
    text: t.text('The text.', said),
    annotations: t.anything('As the model gives them.', []),
    'logprobs?': t.anything('As the model gives them.', []),
  }),
  t.object('Why the model declined.', {
    type: t.only('refusal'),
    refusal: t.text('The text.', 'I cannot help with that.'),
  }),
])

/** Output of a model. A server that speaks this protocol may send more types, as they came. */
export const outputItemShape = t.choice('OutputItem', 'An item of an answer.', [
  t.object('A message.', {
    type: t.only('message'),
    id: itemId,
    role: t.only('assistant'),
    content: t.list(outputPart, 'Parts.'),
    ...status,
  }),
  t.object('A call of a tool.', { id: itemId, ...call }),
  t.object('A call of a custom tool.', { id: itemId, ...customCall }),
  t.object('Reasoning.', { id: itemId, ...reasoning }),
])

export const responsesToolShape = t.choice('ResponsesTool', 'A tool. Others have no effect.', [
  t.object('A tool with arguments as JSON.', {
    type: t.only('function'),
    name: toolName,
    'description?': t.orNull(t.text('What it is for.', 'Reads a file.')),
    'parameters?': t.anything<Record<string, unknown>>('A JSON Schema.', { type: 'object' }),
    'strict?': t.orNull(t.flag('Passed on.', true)),
  }),
  t.object('A tool with text as its input.', {
    type: t.only('custom'),
    name: toolName,
    'description?': t.text('What it is for.', 'Applies a patch.'),
    'format?': t.anything('Passed on.', { type: 'text' }),
  }),
])

const ends = ['created', 'in_progress', 'completed', 'incomplete', 'failed'].map(
  (word) => `response.${word}`,
)
const order = { sequence_number: t.count('Its place in the stream.', 0) }
const place = { output_index: t.count('Which item.', 0) }

/** The data of the events of a stream. */
export const responseEventShape = (response: t.TSchema) =>
  t.choice('ResponseEvent', 'The data of one event of a streamed response.', [
    t.object('The whole, as far as it has come.', {
      type: t.oneOf('What happened.', ends),
      ...order,
      response,
    }),
    t.object('An item.', {
      type: t.oneOf('What happened.', ['response.output_item.added', 'response.output_item.done']),
      ...order,
      ...place,
      item: outputItemShape,
    }),
    t.object('A piece of an item.', {
      type: t.oneOf('What happened.', [
        'response.output_text.delta',
        'response.output_text.done',
        'response.content_part.added',
        'response.content_part.done',
        'response.refusal.delta',
        'response.refusal.done',
        'response.function_call_arguments.delta',
        'response.function_call_arguments.done',
        'response.custom_tool_call_input.delta',
        'response.custom_tool_call_input.done',
        'response.reasoning_summary_part.added',
        'response.reasoning_summary_part.done',
        'response.reasoning_summary_text.delta',
        'response.reasoning_summary_text.done',
      ]),
      ...order,
      ...place,
      item_id: itemId,
      'content_index?': t.count('Which part of a message.', 0),
      'summary_index?': t.count('Which part of a reasoning.', 0),
      'delta?': t.text('Of `.delta`: what is added.', 'Every'),
      'text?': t.text('Of a text that is done: all of it.', said),
      'refusal?': t.text('The same.', 'I cannot help with that.'),
      'arguments?': t.text('The same.', '{"path":"README.md"}'),
      'input?': t.text('The same.', '…'),
      'part?': t.anything('Of a part: the part.', { type: 'output_text', text: said }),
      'logprobs?': t.anything('As the model gives them.', []),
    }),
  ])
