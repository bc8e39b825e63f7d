/** Reads the tools of a Responses request, wherever they stand, as those of Chat Completions. */
import type { Json } from '../../../kernel/canonical.ts'
import { isObject, isSet, type JsonObject, objectOf } from '../../../kernel/json-object.ts'
import { refuseField } from '../../../kernel/refusal.ts'
import { objectsIn, textIn, textOf } from '../reading.ts'
import { noteOthers } from '../translation.ts'

/** The place of a tool: its name there, in a namespace or in none. */
export type ToolPlace = { name: string; namespace: string | undefined }

type ToolDeclaration = { tool: JsonObject; namespace: string | undefined; path: string }

/** Items that bring tools along: what they declare, the model may call. */
const bringing = new Set(['additional_tools', 'tool_search_output'])

export const bringsTools = ({ type }: JsonObject): boolean => bringing.has(textOf(type))

/** All tools of a request, those of namespaces one by one. @throws Refusal `invalid_request` */
function declaredIn(from: JsonObject): ToolDeclaration[] {
  const { tools, input } = from
  if (isSet(tools) && !Array.isArray(tools)) refuseField('tools', 'Send tools as a list.')
  const declared = Array.isArray(tools) ? flat(tools, 'tools') : []
  if (!Array.isArray(input)) return declared
  input.forEach((item, at) => {
    if (!isObject(item) || !bringsTools(item)) return
    declared.push(...flat(objectsIn(item['tools']), `input[${at}].tools`))
  })
  return declared
}

const flat = (tools: Json[], place: string, namespace?: string): ToolDeclaration[] =>
  tools.flatMap((tool, at): ToolDeclaration[] => {
    const path = `${place}[${at}]`
    if (!isObject(tool)) refuseField(path, 'A tool is an object with a type.')
    if (tool['type'] !== 'namespace' || namespace !== undefined) return [{ tool, namespace, path }]
    return flat(objectsIn(tool['tools']), `${path}.tools`, textOf(tool['name']))
  })

/** The names that tools go by where there are no namespaces. */
export class ToolNames {
  /** The namespaces that have a tool of this name; '' stands for none. */
  private readonly owners = new Map<string, Set<string>>()
  private readonly places = new Map<string, ToolPlace>()

  constructor(declared: readonly ToolDeclaration[]) {
    for (const { tool, namespace = '' } of declared) {
      const name = textOf(tool['name'])
      this.owners.set(name, (this.owners.get(name) ?? new Set()).add(namespace))
    }
    for (const { tool, namespace } of declared) {
      if (namespace === undefined) continue
      const name = textOf(tool['name'])
      this.places.set(this.of(name, namespace), { name, namespace })
    }
  }

  /** The name of a tool: its own, unless another namespace has one of that name. */
  of(name: string, namespace: string | undefined): string {
    const isAlone = (this.owners.get(name)?.size ?? 0) < 2
    return namespace === undefined || isAlone ? name : `${namespace}__${name}`.slice(0, 64)
  }

  /** Returns the place of the tool of such a name. */
  placeOf(name: string): ToolPlace {
    return this.places.get(name) ?? { name, namespace: undefined }
  }
}

/** The names of the tools of a request, for its answer. */
export const toolNames = (from: JsonObject): ToolNames => new ToolNames(declaredIn(from))

/** Adds the tools of a request, and which of them is to be called, to its translation. */
export function addTools(from: JsonObject, body: JsonObject, ignored: Set<string>): ToolNames {
  const declared = declaredIn(from)
  const names = new ToolNames(declared)
  const tools = new Map<string, JsonObject>()
  for (const one of declared) {
    const read = toolOf(one, names, ignored)
    // Each turn may bring the same tools once more.
    if (read) tools.set(read.name, read.tool)
  }
  if (tools.size > 0) body['tools'] = [...tools.values()]
  const { tool_choice: choice } = from
  if (tools.size > 0) {
    if (isSet(choice)) body['tool_choice'] = choiceOf(choice, ignored)
    return names
  }
  if (declared.length > 0 && (choice === 'required' || isObject(choice))) {
    refuseField('tool_choice', 'None of these tools is served by this model. Leave them out.')
  }
  // Without tools there is nothing to choose, and model servers refuse a choice.
  if (isSet(choice)) ignored.add('tool_choice')
  if ('parallel_tool_calls' in body) {
    delete body['parallel_tool_calls']
    ignored.add('parallel_tool_calls')
  }
  return names
}

/** Members of tools that Chat Completions has a place for. */
const ofFunction = new Set(['type', 'name', 'description', 'parameters', 'strict'])
const ofCustom = new Set(['type', 'name', 'description', 'format'])

type NamedTool = { name: string; tool: JsonObject }

/** Tools that a server or client runs itself are ignored by name: agents offer them unasked. */
function toolOf(
  { tool, namespace, path }: ToolDeclaration,
  names: ToolNames,
  ignored: Set<string>,
): NamedTool | undefined {
  const { type, description, parameters, strict, format } = tool
  if (type !== 'function' && type !== 'custom') {
    ignored.add(`tools.${typeof type === 'string' ? type.slice(0, 64) : 'unnamed'}`)
    return undefined
  }
  const name = names.of(textIn(tool, 'name', path), namespace)
  const named = { name, ...(isSet(description) ? { description } : {}) }
  if (type === 'custom') {
    noteOthers(ignored, 'tools', tool, ofCustom)
    const rest: JsonObject = isSet(format) ? { format: grammarOf(format) } : {}
    return { name, tool: { type, custom: { ...named, ...rest } } }
  }
  noteOthers(ignored, 'tools', tool, ofFunction)
  const rest = {
    ...(isSet(parameters) ? { parameters } : {}),
    ...(isSet(strict) ? { strict } : {}),
  }
  return { name, tool: { type, function: { ...named, ...rest } } }
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
  if (type === 'allowed_tools') {
    const { mode = 'auto', tools } = objectOf(choice)
    const allowed = objectsIn(tools).map((tool) => choiceOf(tool, ignored))
    return { type, allowed_tools: { mode, tools: allowed } }
  }
  return refuseField('tool_choice.type', 'Send auto, none, required, or a function or custom tool.')
}
