/** Blocks, tools and events of Anthropic's Messages, for the reference and typed clients. */
import * as t from '../../../web/http/shape.ts'

const said = 'Every run leaves a receipt.'
const cached = { 'cache_control?': t.anything('Passed on.', { type: 'ephemeral' }) }

const textBlock = t.answer('TextBlock', 'Text.', {
  type: t.only('text'),
  text: t.text('The text.', said),
  'citations?': t.anything('As the model gives them.', null),
  ...cached,
})

const source = t.either('The content itself.', [
  t.object('', {
    type: t.only('base64'),
    media_type: t.text('PNG, JPEG, GIF, WebP; of a document PDF.', 'image/png'),
    data: t.text('Base64.', 'iVBORw0KGgo='),
  }),
  t.object('', {
    type: t.only('text'),
    media_type: t.text('Of a document.', 'text/plain'),
    data: t.text('Text.', said),
  }),
])

const imageBlock = t.answer('ImageBlock', 'An image.', {
  type: t.only('image'),
  source,
  ...cached,
})

const documentBlock = t.answer('DocumentBlock', 'A PDF, or a text.', {
  type: t.only('document'),
  source,
  'title?': t.orNull(t.text('Its name.', 'receipt.pdf')),
  ...cached,
})

const toolUseBlock = t.answer('ToolUseBlock', 'The model calls a tool.', {
  type: t.only('tool_use'),
  id: t.text('Comes back as `tool_use_id`.', 'toolu_1'),
  name: t.text('Name of the tool.', 'read_file'),
  input: t.map(t.anything('', 0), 'Its arguments.', { path: 'README.md' }),
  'caller?': t.anything('As it came.', { type: 'direct' }),
  ...cached,
})

const toolResultBlock = t.answer('ToolResultBlock', 'What a tool answered.', {
  type: t.only('tool_result'),
  tool_use_id: t.text('The `id` of the call.', 'toolu_1'),
  'content?': t.either('Text, or blocks.', [
    t.text('', said),
    t.list(t.either('', [textBlock, imageBlock, documentBlock]), 'Blocks.'),
  ]),
  'is_error?': t.flag('Whether the tool failed.', false),
  ...cached,
})

const thinkingBlock = t.answer(
  'ThinkingBlock',
  'Reasoning with its signature: send it as it came.',
  {
    type: t.only('thinking'),
    thinking: t.text('The reasoning.', 'First …'),
    signature: t.text("The model server's, or an envelope of what it sent.", '…'),
  },
)

const redactedBlock = t.answer('RedactedThinkingBlock', 'Reasoning that is sealed.', {
  type: t.only('redacted_thinking'),
  data: t.text('Sealed.', '…'),
})

/** Output of a model. A server that speaks this protocol may send more types, as they came. */
export const answerBlockShape = t.choice('AnswerBlock', 'A block of an answer.', [
  textBlock,
  toolUseBlock,
  thinkingBlock,
  redactedBlock,
])

export const messageParamShape = t.answer('MessageParam', 'A message.', {
  role: t.oneOf('Who says it.', ['user', 'assistant', 'system']),
  content: t.either('Text, or blocks.', [
    t.text('', said),
    t.list(
      t.either('', [
        textBlock,
        imageBlock,
        documentBlock,
        toolUseBlock,
        toolResultBlock,
        thinkingBlock,
        redactedBlock,
      ]),
      'Blocks.',
    ),
  ]),
})

export const systemShape = t.either('Text, or blocks of text.', [
  t.text('', 'Be short.'),
  t.list(textBlock, 'Blocks.'),
])

export const messagesToolShape = t.answer('MessagesTool', 'A tool that the model may call.', {
  name: t.text('Its name.', 'read_file'),
  'type?': t.orNull(t.text('`custom`. Tools of a model server have others.', 'custom')),
  'description?': t.text('What it is for.', 'Reads a file.'),
  'input_schema?': t.anything<Record<string, unknown>>('A JSON Schema.', { type: 'object' }),
  ...cached,
})

const index = t.count('Which block.', 0)

/** The data of the events of a stream, in the order in which they come. */
export const messageEventShape = (message: t.TSchema, last: Record<string, t.TSchema>) =>
  t.choice('MessageEvent', 'The data of one event of a streamed message.', [
    t.object('', { type: t.only('message_start'), message }),
    t.object('', {
      type: t.only('content_block_start'),
      index,
      content_block: answerBlockShape,
    }),
    t.object('', {
      type: t.only('content_block_delta'),
      index,
      delta: t.either('What is added.', [
        t.object('', { type: t.only('text_delta'), text: t.text('A piece.', 'Every') }),
        t.object('', {
          type: t.only('input_json_delta'),
          partial_json: t.text('A piece of the arguments.', '{"pa'),
        }),
        t.object('', { type: t.only('thinking_delta'), thinking: t.text('A piece.', 'First') }),
        t.object('', { type: t.only('signature_delta'), signature: t.text('All of it.', '…') }),
      ]),
    }),
    t.object('', { type: t.only('content_block_stop'), index }),
    t.object('', {
      type: t.only('message_delta'),
      delta: t.object('', {
        stop_reason: t.orNull(t.text('As in a message.', 'end_turn')),
        stop_sequence: t.orNull(t.text('As in a message.', '.')),
        stop_details: t.anything('As in a message.', null),
        container: t.anything('As in a message.', null),
      }),
      ...last,
    }),
    t.object('', { type: t.only('message_stop') }),
    t.object('', { type: t.only('ping') }),
    t.object('It broke off.', {
      type: t.only('error'),
      error: t.anything('As in an error body.', { type: 'api_error', message: '…' }),
      'request_id?': t.id('req', 'Quote it to the operator.'),
    }),
  ])
