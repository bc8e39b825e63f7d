/** Reads the tools of a Messages request as those of Chat Completions. */
import type { Json } from '../../../kernel/canonical.ts'
import { isObject, isSet, type JsonObject } from '../../../kernel/json-object.ts'
import { refuseField } from '../../../kernel/refusal.ts'
import { textIn, textOf } from '../reading.ts'
import { noteOthers } from '../translation.ts'

const ofTool = new Set(['type', 'name', 'description', 'input_schema', 'strict'])
const ofChoice = new Set(['type', 'name', 'disable_parallel_tool_use'])

const text = { type: 'string' }
const number = { type: 'integer' }

/** Tools that the client runs and only Anthropic's models know: what they take, for others. */
const clientRun: readonly [type: string, about: string, properties: JsonObject][] = [
  [
    'bash_',
    'Runs a command in a shell that stays open.',
    { command: text, restart: { type: 'boolean' } },
  ],
  [
    'text_editor_',
    'Views and changes files. Commands: view, create, str_replace, insert.',
    {
      ...{ command: text, path: text, file_text: text, old_str: text, new_str: text },
      ...{ insert_line: number, insert_text: text, view_range: { type: 'array', items: number } },
    },
  ],
  [
    'memory_',
    'Keeps notes. Commands: view, create, str_replace, insert, delete, rename.',
    {
      ...{ command: text, path: text, file_text: text, old_str: text, new_str: text },
      ...{ insert_line: number, insert_text: text, old_path: text, new_path: text },
      ...{ view_range: { type: 'array', items: number } },
    },
  ],
]

/**
 * Adds the tools of a request, and which of them is to be called, to its translation. Tools that
 * a server would run by itself are ignored by name: agents offer them unasked.
 * @throws Refusal `invalid_request` where one of these must be called
 */
export function addTools(from: JsonObject, body: JsonObject, ignored: Set<string>): void {
  const { tools, tool_choice: choice } = from
  const left = new Set<string>()
  if (isSet(tools)) {
    if (!Array.isArray(tools)) refuseField('tools', 'Send tools as a list.')
    const read = tools.flatMap((tool, at) => toolOf(tool, at, { ignored, left }))
    if (read.length > 0) body['tools'] = read
  }
  if (!isSet(choice)) return
  if (!isObject(choice)) refuseField('tool_choice', 'Send tool_choice as an object with a type.')
  const wanted = choiceOf(choice)
  noteOthers(ignored, 'tool_choice', choice, ofChoice)
  if (choice['type'] === 'tool' && left.has(textOf(choice['name']))) {
    refuseField('tool_choice.name', 'This tool is not served by this model. Leave tool_choice out.')
  }
  if (body['tools'] !== undefined) {
    body['tool_choice'] = wanted
    if (choice['disable_parallel_tool_use'] === true) body['parallel_tool_calls'] = false
    return
  }
  if (left.size > 0 && choice['type'] === 'any') {
    refuseField('tool_choice', 'None of these tools is served by this model. Leave them out.')
  }
  // Without tools there is nothing to choose, and model servers refuse a choice.
  ignored.add('tool_choice')
}

function choiceOf(choice: JsonObject): Json {
  switch (choice['type']) {
    case 'auto':
    case 'none':
      return choice['type']
    case 'any':
      return 'required'
    case 'tool':
      return { type: 'function', function: { name: textIn(choice, 'name', 'tool_choice') } }
    default:
      return refuseField('tool_choice.type', 'Send auto, any, tool or none.')
  }
}

type Notes = { ignored: Set<string>; left: Set<string> }

function toolOf(tool: Json, index: number, { ignored, left }: Notes): JsonObject[] {
  const path = `tools[${index}]`
  if (!isObject(tool)) refuseField(path, 'A tool is an object with a name and an input_schema.')
  const { type, description, input_schema: parameters, strict } = tool
  noteOthers(ignored, 'tools', tool, ofTool)
  if (isSet(type) && type !== 'custom') {
    const named = textOf(type)
    const known = clientRun.find(([prefix]) => named.startsWith(prefix))
    if (!known) {
      ignored.add(`tools.${named.slice(0, 64) || 'unnamed'}`)
      left.add(textOf(tool['name']))
      return []
    }
    const [, about, properties] = known
    const schema = { type: 'object', properties }
    const name = textIn(tool, 'name', path)
    return [{ type: 'function', function: { name, description: about, parameters: schema } }]
  }
  return [
    {
      type: 'function',
      function: {
        name: textIn(tool, 'name', path),
        ...(isSet(description) ? { description } : {}),
        parameters: parameters ?? { type: 'object', properties: {} },
        ...(isSet(strict) ? { strict } : {}),
      },
    },
  ]
}
