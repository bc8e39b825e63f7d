/**
 * Reads a request of OpenAI's Responses API as one of Chat Completions, after what it names of kept
 * responses stands in it. What else would need stored answers is refused by name.
 */
import type { Json } from '../../../kernel/canonical.ts'
import { isObject, isSet, type JsonObject } from '../../../kernel/json-object.ts'
import { refuseField } from '../../../kernel/refusal.ts'
import { textOf } from '../reading.ts'
import { noteOthers, type Translation, unknownMembers } from '../translation.ts'
import { messagesOf, settingsIn } from './read-items.ts'
import { addTools } from './read-tools.ts'

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
  'prompt_cache_key',
  'fit',
])

/** Members whose name means the same to Chat Completions. */
const same = [
  ...['temperature', 'top_p', 'stream', 'parallel_tool_calls', 'service_tier', 'user'],
  'prompt_cache_key',
]

/**
 * @param model the id of the model that is asked: what it reasoned before goes back to it
 * @throws Refusal `invalid_request` with `param`
 */
export function responsesToChat(from: JsonObject, model = textOf(from['model'])): Translation {
  refuseStored(from)
  const ignored = new Set(unknownMembers(from, known))
  const body: JsonObject = { model: from['model'] ?? null, messages: null }
  for (const name of same) if (isSet(from[name])) body[name] = from[name]
  if (isSet(from['max_output_tokens'])) body['max_completion_tokens'] = from['max_output_tokens']
  const names = addTools(from, body, ignored)
  body['messages'] = messagesOf(from, { model, names, ignored })
  const later = settingsIn(from['input'])
  addText(updated(from['text'], later.text), body, ignored)
  addReasoning(updated(from['reasoning'], later.reasoning), body, ignored)
  return { body, ignored: [...ignored].sort() }
}

const updated = (setting: Json | undefined, update: Json | undefined): Json | undefined =>
  isObject(setting) && isObject(update) ? { ...setting, ...update } : (update ?? setting)

function addReasoning(reasoning: Json | undefined, body: JsonObject, ignored: Set<string>): void {
  if (!isSet(reasoning)) return
  if (!isObject(reasoning)) refuseField('reasoning', 'Send reasoning as an object.')
  if (isSet(reasoning['effort'])) body['reasoning_effort'] = reasoning['effort']
  for (const name of unknownMembers(reasoning, new Set(['effort']))) {
    ignored.add(`reasoning.${name}`)
  }
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
