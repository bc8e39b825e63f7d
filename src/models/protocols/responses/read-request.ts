/**
 * Reads a request of OpenAI's Responses API as one of Chat Completions, after what it names of kept
 * responses stands in it. What else would need stored answers is refused by name.
 */
import type { Json } from '../../../kernel/canonical.ts'
import { isObject, type JsonObject } from '../../../kernel/json-object.ts'
import { isSet, refuseField } from '../../body.ts'
import { textIn } from '../reading.ts'
import { noteOthers, type Translation, unknownMembers } from '../translation.ts'
import { messagesOf } from './read-items.ts'

/** Members that are read, or that ask for what happens anyway. */
const known = new Set([
  'model',
  'input',
  'instructions',
  'max_output_tokens',
  'stream',
  'store',
  'temperature',
  'top_p',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'text',
  'reasoning',
  'metadata',
  'service_tier',
  'user',
  'previous_response_id',
  'conversation',
  'background',
  'prompt',
  'fit',
])

/** Members whose name means the same to Chat Completions. */
const same = ['temperature', 'top_p', 'stream', 'parallel_tool_calls', 'service_tier', 'user']

/** @throws Refusal `invalid_request` with `param` */
export function responsesToChat(from: JsonObject): Translation {
  refuseStored(from)
  const ignored = new Set(unknownMembers(from, known))
  const body: JsonObject = { model: from['model'] ?? null, messages: messagesOf(from, ignored) }
  for (const name of same) if (isSet(from[name])) body[name] = from[name]
  if (isSet(from['max_output_tokens'])) body['max_completion_tokens'] = from['max_output_tokens']
  addTools(from, body, ignored)
  addText(from['text'], body, ignored)
  const { reasoning } = from
  if (isSet(reasoning)) {
    if (!isObject(reasoning)) refuseField('reasoning', 'Send reasoning as an object.')
    if (isSet(reasoning['effort'])) body['reasoning_effort'] = reasoning['effort']
    for (const name of unknownMembers(reasoning, new Set(['effort']))) {
      ignored.add(`reasoning.${name}`)
    }
  }
  return { body, ignored: [...ignored].sort() }
}

/** @throws Refusal `invalid_request` for what would need stored answers */
export function refuseStored(from: JsonObject): void {
  if (isSet(from['previous_response_id'])) {
    refuseField(
      'previous_response_id',
      'What it stands for is not in this request. Send the items of the conversation as "input".',
    )
  }
  if (isSet(from['conversation'])) {
    refuseField('conversation', 'Conversations are not stored here. Send their items as "input".')
  }
  if (isSet(from['prompt'])) {
    refuseField('prompt', 'Prompts are not stored here. Send the prompt as "instructions".')
  }
  if (from['background'] === true) {
    refuseField('background', 'Use POST /v1/runs with "background": true, or leave it out.')
  }
}

/** Tools that a server would run by itself are ignored by name: agents offer them unasked. */
function addTools(from: JsonObject, body: JsonObject, ignored: Set<string>): void {
  const { tools, tool_choice: choice } = from
  if (isSet(tools)) {
    if (!Array.isArray(tools)) refuseField('tools', 'Send tools as a list.')
    const read = tools.flatMap((tool, index) => toolOf(tool, `tools[${index}]`, ignored))
    if (read.length > 0) body['tools'] = read
  }
  if (body['tools'] !== undefined) {
    if (isSet(choice)) body['tool_choice'] = choiceOf(choice, ignored)
    return
  }
  // Without tools there is nothing to choose, and model servers refuse a choice.
  if (isSet(choice)) ignored.add('tool_choice')
  if ('parallel_tool_calls' in body) {
    delete body['parallel_tool_calls']
    ignored.add('parallel_tool_calls')
  }
}

/** Members of tools that Chat Completions has a place for. */
const ofFunction = new Set(['type', 'name', 'description', 'parameters', 'strict'])
const ofCustom = new Set(['type', 'name', 'description', 'format'])

function toolOf(tool: Json, path: string, ignored: Set<string>): JsonObject[] {
  if (!isObject(tool)) refuseField(path, 'A tool is an object with a type.')
  const { type, description, parameters, strict, format } = tool
  if (type === 'function') {
    noteOthers(ignored, 'tools', tool, ofFunction)
    const named = {
      name: textIn(tool, 'name', path),
      ...(isSet(description) ? { description } : {}),
    }
    const rest = {
      ...(isSet(parameters) ? { parameters } : {}),
      ...(isSet(strict) ? { strict } : {}),
    }
    return [{ type, function: { ...named, ...rest } }]
  }
  if (type === 'custom') {
    noteOthers(ignored, 'tools', tool, ofCustom)
    const named = {
      name: textIn(tool, 'name', path),
      ...(isSet(description) ? { description } : {}),
    }
    return [{ type, custom: { ...named, ...(isSet(format) ? { format: grammarOf(format) } : {}) } }]
  }
  ignored.add(`tools.${typeof type === 'string' ? type.slice(0, 64) : 'unnamed'}`)
  return []
}

/** Chat Completions puts a grammar one level deeper. */
function grammarOf(format: Json): Json {
  if (!isObject(format) || format['type'] !== 'grammar') return format
  const { type, ...grammar } = format
  return { type, grammar }
}

function choiceOf(choice: Json, ignored: Set<string>): Json {
  if (typeof choice === 'string') return choice
  if (!isObject(choice)) refuseField('tool_choice', 'Send tool_choice as text or an object.')
  const { type } = choice
  if (type === 'function' || type === 'custom') {
    noteOthers(ignored, 'tool_choice', choice, new Set(['type', 'name']))
    return { type, [type]: { name: textIn(choice, 'name', 'tool_choice') } }
  }
  return refuseField('tool_choice.type', 'Send auto, none, required, or a function or custom tool.')
}

function addText(text: Json | undefined, body: JsonObject, ignored: Set<string>): void {
  if (!isSet(text)) return
  if (!isObject(text)) refuseField('text', 'Send text as an object.')
  const { format, verbosity } = text
  noteOthers(ignored, 'text', text, new Set(['format', 'verbosity']))
  if (isSet(verbosity)) body['verbosity'] = verbosity
  if (!isSet(format)) return
  if (!isObject(format)) refuseField('text.format', 'Send text.format as an object.')
  if (format['type'] === 'text') return
  if (format['type'] === 'json_object') {
    body['response_format'] = { type: 'json_object' }
    return
  }
  if (format['type'] !== 'json_schema') {
    refuseField('text.format.type', 'Send text, json_object or json_schema.')
  }
  const { type, ...schema } = format
  body['response_format'] = { type, json_schema: schema }
}
