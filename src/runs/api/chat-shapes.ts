/** Messages, tools and chunks of OpenAI's Chat Completions, for the reference and typed clients. */
import * as t from '../../web/http/shape.ts'

const said = 'Every run leaves a receipt.'
const dataUrl = 'data:image/png;base64,iVBORw0KGgo='

const textPart = t.answer('TextPart', 'A part that is text.', {
  type: t.only('text'),
  text: t.text('The text.', said),
})

const refusalPart = t.answer('RefusalPart', 'A part that says why the model declined.', {
  type: t.only('refusal'),
  refusal: t.text('The text.', 'I cannot help with that.'),
})

const imagePart = t.answer('ImagePart', 'A part that is an image.', {
  type: t.only('image_url'),
  image_url: t.object('The image itself.', {
    url: t.text('PNG, JPEG, GIF or WebP as a `data:` URL in base64.', dataUrl),
    'detail?': t.oneOf('Passed on.', ['auto', 'low', 'high']),
  }),
})

const filePart = t.answer('FilePart', 'A part that is a PDF.', {
  type: t.only('file'),
  file: t.object('The PDF itself.', {
    'filename?': t.text('Its name.', 'receipt.pdf'),
    file_data: t.text('A `data:` URL in base64.', 'data:application/pdf;base64,JVBERi0='),
  }),
})

const userContent = t.choice('UserContent', 'Text, or parts: text, images, PDFs.', [
  t.text('', said),
  t.list(t.either('', [textPart, imagePart, filePart]), 'Parts.'),
])

const textContent = t.choice('TextContent', 'Text, or parts that are text.', [
  t.text('', said),
  t.list(textPart, 'Parts.'),
])

export const toolCallShape = t.answer('ToolCall', 'The model calls a tool.', {
  id: t.text('Comes back in the message of the tool as `tool_call_id`.', 'call_1'),
  type: t.only('function'),
  function: t.object('What it calls.', {
    name: t.text('Name of the tool.', 'read_file'),
    arguments: t.text('JSON, as the model wrote it.', '{"path":"README.md"}'),
  }),
})

export const customCallShape = t.answer('CustomToolCall', 'The model calls a custom tool.', {
  id: t.text('Comes back in the message of the tool as `tool_call_id`.', 'call_2'),
  type: t.only('custom'),
  custom: t.object('What it calls.', {
    name: t.text('Name of the tool.', 'patch'),
    input: t.text('Text, as the model wrote it.', '…'),
  }),
})

const calls = t.list(t.either('', [toolCallShape, customCallShape]), 'Calls of tools.')

const name = { 'name?': t.text('Passed on.', 'ada') }

export const chatMessageShape = t.choice('ChatMessage', 'A message of a chat.', [
  t.answer('UserMessage', 'What the user says.', {
    role: t.only('user'),
    content: userContent,
    ...name,
  }),
  t.answer('SystemMessage', 'What the model is to keep to.', {
    role: t.oneOf('`developer` is the newer name.', ['system', 'developer']),
    content: textContent,
    ...name,
  }),
  t.answer('AssistantMessage', 'What the model said before: an answer can be sent as it came.', {
    role: t.only('assistant'),
    'content?': t.either('Text or parts; null or absent beside calls.', [
      t.text('', said),
      t.list(t.either('', [textPart, refusalPart]), 'Parts.'),
      t.nothing,
    ]),
    'tool_calls?': calls,
    'refusal?': t.orNull(t.text('Why it declined.', 'I cannot help with that.')),
    'reasoning?': t.orNull(t.text('Passed on.', 'First …')),
    'reasoning_content?': t.orNull(t.text('Passed on.', 'First …')),
    'reasoning_details?': t.anything('Passed on, with signatures.', []),
    ...name,
  }),
  t.answer('ToolMessage', 'What a tool answered.', {
    role: t.only('tool'),
    tool_call_id: t.text('The `id` of the call.', 'call_1'),
    content: textContent,
  }),
])

export const toolShape = t.choice('Tool', 'A tool that the model may call.', [
  t.answer('FunctionTool', 'A tool with arguments as JSON.', {
    type: t.only('function'),
    function: t.object('What it is.', {
      name: t.text('Its name.', 'read_file'),
      'description?': t.text('What it is for.', 'Reads a file.'),
      'parameters?': t.anything<Record<string, unknown>>('A JSON Schema.', { type: 'object' }),
      'strict?': t.orNull(t.flag('Passed on.', true)),
    }),
  }),
  t.answer('CustomTool', 'A tool with text as its input.', {
    type: t.only('custom'),
    custom: t.object('What it is.', {
      name: t.text('Its name.', 'patch'),
      'description?': t.text('What it is for.', 'Applies a patch.'),
      'format?': t.anything('Passed on.', { type: 'text' }),
    }),
  }),
])

export const toolChoiceShape = t.choice('ToolChoice', 'Which tool it calls.', [
  t.oneOf('', ['auto', 'none', 'required']),
  t.object('One tool.', {
    type: t.only('function'),
    function: t.object('', { name: t.text('Its name.', 'read_file') }),
  }),
])

/** A chunk of a stream; the usage and the receipt are members of the last ones. */
export const chunkShape = (last: Record<string, t.TSchema>) =>
  t.answer('ChatCompletionChunk', 'The data of one event of a streamed completion.', {
    id: t.id('run', 'Id of the run.'),
    object: t.only('chat.completion.chunk'),
    created: t.integer('Unix seconds.', 1_785_585_600),
    model: t.text('The model.', 'counterfoil/echo-1'),
    choices: t.list(
      t.object('A piece of a choice.', {
        index: t.integer('Its place.', 0),
        delta: t.object('What is added.', {
          'role?': t.only('assistant'),
          'content?': t.orNull(t.text('A piece of the text.', 'Every')),
          'reasoning_content?': t.orNull(t.text('A piece of its reasoning.', 'First')),
          'refusal?': t.orNull(t.text('A piece of why it declined.', 'I cannot')),
          'tool_calls?': t.list(
            t.object('A piece of a call.', {
              index: t.integer('Which call it adds to.', 0),
              'id?': t.text('Of the first piece.', 'call_1'),
              'type?': t.oneOf('Of the first piece.', ['function', 'custom']),
              'function?': t.object('', {
                'name?': t.text('Of the first piece.', 'read_file'),
                'arguments?': t.text('A piece of the JSON.', '{"pa'),
              }),
            }),
            'Pieces of calls.',
          ),
        }),
        finish_reason: t.orNull(t.text('Of the last piece: `stop`, `tool_calls`, …', 'stop')),
        'logprobs?': t.anything('As the model gives them.', null),
      }),
      'Empty in the chunk that `include_usage` asks for.',
    ),
    ...last,
  })
