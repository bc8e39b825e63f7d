/**
 * Freeform tools, which take a text, before a server that knows functions alone: each becomes a
 * function with one text, and so do its calls in the conversation.
 */
import type { Json } from '../../kernel/canonical.ts'
import { isObject, isSet, type JsonObject, objectOf } from '../../kernel/json-object.ts'
import { objectsIn, textOf } from './reading.ts'
import { noteOthers } from './translation.ts'

/** The one argument. */
export const argument = 'input'

export type FunctionRequest = {
  body: JsonObject
  /** The names of the tools that became functions; undefined when there were none. */
  freeform: ReadonlySet<string> | undefined
  /** Members of these tools that a function has no place for. */
  ignored: readonly string[]
}

/** A request with functions in the place of freeform tools; itself if it has none. */
export function withFunctions(body: JsonObject): FunctionRequest {
  const { tools, messages, tool_choice: choice } = body
  const names = new Set(objectsIn(tools).filter(isCustom).map(nameOf))
  const isSaid = objectsIn(messages).some(hasCustomCall)
  if (names.size === 0 && !isSaid) return { body, freeform: undefined, ignored: [] }
  const changed: JsonObject = { ...body }
  const ignored = new Set<string>()
  for (const { custom } of objectsIn(tools)) {
    noteOthers(ignored, 'tools.format', objectOf(custom)['format'], ofFormat)
  }
  if (Array.isArray(tools)) changed['tools'] = tools.map(toFunction)
  if (isSaid && Array.isArray(messages)) changed['messages'] = messages.map(withFunctionCalls)
  if (isObject(choice)) changed['tool_choice'] = toFunctionChoice(choice)
  return { body: changed, freeform: names.size > 0 ? names : undefined, ignored: [...ignored] }
}

const ofFormat = new Set(['type', 'grammar'])

const isCustom = (tool: Json): boolean => isObject(tool) && isObject(tool['custom'])

const nameOf = (tool: JsonObject): string => textOf(objectOf(tool['custom'])['name'])

const hasCustomCall = (message: JsonObject): boolean =>
  objectsIn(message['tool_calls']).some(isCustom)

function toFunction(tool: Json): Json {
  if (!isObject(tool) || !isObject(tool['custom'])) return tool
  const { type: _, custom, ...rest } = tool
  const { name, description, format, ...more } = objectOf(custom)
  const parameters = {
    type: 'object',
    properties: { [argument]: { type: 'string', description: 'The whole input, as plain text.' } },
    required: [argument],
    additionalProperties: false,
  }
  const about = [textOf(description), grammarOf(format)].filter((text) => text !== '').join('\n\n')
  const called: JsonObject = { name: name ?? '', ...(about === '' ? {} : { description: about }) }
  return { type: 'function', function: { ...called, ...more, parameters }, ...rest }
}

/** A server that knows no grammars reads them. */
function grammarOf(format: Json | undefined): string {
  const { type, grammar } = objectOf(format)
  const { syntax, definition } = objectOf(grammar)
  if (type !== 'grammar' || !isSet(definition)) return ''
  return `The input follows this ${textOf(syntax)} grammar:\n${textOf(definition)}`
}

function withFunctionCalls(message: Json): Json {
  if (!isObject(message) || !hasCustomCall(message)) return message
  const calls = objectsIn(message['tool_calls']).map((call): JsonObject => {
    const { custom, type: _, ...rest } = call
    if (!isObject(custom)) return call
    const args = JSON.stringify({ [argument]: textOf(custom['input']) })
    return { ...rest, type: 'function', function: { name: custom['name'] ?? '', arguments: args } }
  })
  return { ...message, tool_calls: calls }
}

function toFunctionChoice(choice: JsonObject): JsonObject {
  const { type, custom, allowed_tools: allowed } = choice
  if (type === 'custom')
    return { type: 'function', function: { name: objectOf(custom)['name'] ?? '' } }
  if (!isObject(allowed)) return choice
  const tools = objectsIn(allowed['tools']).map(toFunctionChoice)
  return { ...choice, allowed_tools: { ...allowed, tools } }
}
