/**
 * The tools of a request that goes on as it came. Unknown ones count as run by the caller; those
 * that the model server would run and bill by itself go on only with a rate and a bound.
 */
import type { Json } from '../../../kernel/canonical.ts'
import { isObject, isSet, type JsonObject, objectOf } from '../../../kernel/json-object.ts'
import { refuseField } from '../../../kernel/refusal.ts'
import type { Model } from '../../model.ts'
import type { Protocol } from '../protocol.ts'
import { objectsIn, quoted, textOf } from '../reading.ts'

/** Searches of one run where the client gave no limit, and the most that it may give. */
const usualSearches = 5
const mostSearches = 100

/**
 * Tokens of a tool that its vendor describes to the model: its own JSON is a name alone. The
 * longest ones that are documented have some 1,250.
 */
const tokensOfVendorsTool = 1500

/** Tools that a model server runs by itself: searches and pages have bounds, the others none. */
type Kind = 'search' | 'fetch' | 'other'

const kinds: readonly (readonly [beginning: string, kind: Kind])[] = [
  ['web_search', 'search'],
  ['web_fetch', 'fetch'],
  ['advisor', 'other'],
  ['browser_search', 'other'],
  ['code_execution', 'other'],
  ['code_interpreter', 'other'],
  ['collections_search', 'other'],
  ['document_search', 'other'],
  ['file_search', 'other'],
  ['image_generation', 'other'],
  ['mcp', 'other'],
  ['openrouter:', 'other'],
  ['x_search', 'other'],
]

/** Undefined for a tool that the caller runs. */
function kindOf(tool: JsonObject): Kind | undefined {
  const type = textOf(tool['type'])
  if (type === '' || type === 'function' || type === 'custom') return undefined
  // A shell runs where the caller says: beside the caller, or in a container that is billed.
  if (type === 'shell') return isContained(tool) ? 'other' : undefined
  if (type === 'namespace') return objectsIn(tool['tools']).some(kindOf) ? 'other' : undefined
  return kinds.find(([beginning]) => type.startsWith(beginning))?.[1]
}

const isContained = ({ environment }: JsonObject): boolean =>
  textOf(objectOf(environment)['type']).startsWith('container')

/** Tools whose JSON says all that the model reads of them. */
const described = new Set(['', 'function', 'custom', 'namespace', 'tool_reference'])

/** Tools that agents of the Responses API offer with every request, wanted or not. */
const isUnasked = (type: string): boolean => /^(web_search|image_generation|namespace)/.test(type)

/** The rules for the tools of one request, and the most that those let a run do. */
export class ToolRules {
  /** How often the model server may search, and how often it may read everything once more. */
  searches = 0
  readings = 0
  /** The tokens of tools that their vendor describes. */
  tokens = 0
  /** How many go on; undefined as long as there was no list. */
  private kept: number | undefined
  /** The kinds that stayed behind. */
  private readonly dropped = new Set<string>()
  private readonly searchRate: bigint | undefined

  constructor(
    private readonly model: Model,
    private readonly protocol: Protocol,
    /** The calls of all tools of the server together, as the request limits them. */
    private readonly mostCalls: Json | undefined,
    private readonly ignored: string[],
  ) {
    this.searchRate = model.prices.card?.classes.web_search
  }

  /** The tools of a list that go on. @throws Refusal `invalid_request` */
  listOf(tools: Json | undefined, path: string): Json[] {
    if (!Array.isArray(tools)) refuseField(path, 'Send tools as a list.')
    this.kept ??= 0
    const left = tools.flatMap((tool, at) => this.toolOf(tool, `${path}[${at}]`))
    return left.length === tools.length && left.every((tool, at) => tool === tools[at])
      ? tools
      : left
  }

  /** A tool that the caller has to run. @throws Refusal `invalid_request` for any other */
  takeCallers(tool: JsonObject, path: string): void {
    const type = textOf(tool['type'])
    const kind = kindOf(tool)
    if (kind !== undefined) this.refuse(type, 'other', path)
    if (!described.has(type)) this.tokens += tokensOfVendorsTool
    this.keep()
  }

  private toolOf(tool: Json, path: string): Json[] {
    if (!isObject(tool)) refuseField(path, 'A tool is an object.')
    const kind = kindOf(tool)
    const type = textOf(tool['type'])
    if (kind === undefined) {
      this.takeCallers(tool, path)
      return [tool]
    }
    if (kind === 'search' && this.searchRate !== undefined) return [this.search(tool, path)]
    if (kind === 'fetch' && isFetchBounded(tool)) {
      this.addReadings(usesIn(tool, path) ?? 0)
      return [tool]
    }
    if (this.protocol === 'responses' && isUnasked(type)) {
      this.dropped.add(type)
      this.ignored.push(`tools.${type}`)
      return []
    }
    return this.refuse(type, kind, path)
  }

  private search(tool: JsonObject, path: string): JsonObject {
    if (this.protocol === 'responses') {
      // One limit holds for all calls together, and goes beside the tools.
      const { mostCalls } = this
      this.searches = isSet(mostCalls) ? countOf(mostCalls, 'max_tool_calls') : usualSearches
      this.readings = Math.max(this.readings, this.searches)
      this.tokens += tokensOfVendorsTool
      this.keep()
      return tool
    }
    const uses = usesIn(tool, path) ?? usualSearches
    this.searches += uses
    this.addReadings(uses)
    return { ...tool, max_uses: uses }
  }

  private addReadings(uses: number): void {
    this.readings += uses
    this.tokens += tokensOfVendorsTool
    this.keep()
  }

  private keep(): void {
    this.kept = (this.kept ?? 0) + 1
  }

  private refuse(type: string, kind: Kind, path: string): never {
    if (kind === 'fetch') {
      refuseField(
        path,
        `A tool of type ${quoted(type)} needs max_uses and max_content_tokens here.`,
      )
    }
    const what = kind === 'search' ? 'has no rate for searches' : 'has no rate for it'
    refuseField(
      `${path}.type`,
      `The model server would run a tool of type ${quoted(type)} by itself, and ` +
        `${this.model.id} ${what}. Leave it out.`,
    )
  }

  /**
   * Writes what the tools leave of the choice among them: without tools there is nothing to choose,
   * and model servers refuse a choice.
   * @throws Refusal `invalid_request` where a tool that stays behind is asked for
   */
  settleChoice(members: JsonObject): void {
    if (this.protocol !== 'responses') return
    if (this.searches > 0) members['max_tool_calls'] = this.searches
    const { tools } = members
    if (Array.isArray(tools) && tools.length === 0) delete members['tools']
    const choice = members['tool_choice']
    if (this.dropped.size > 0 && isSet(choice)) {
      const left = this.choiceOf(choice)
      if (left === undefined) delete members['tool_choice']
      else members['tool_choice'] = left
    }
    if (this.kept !== 0) return
    for (const name of ['tool_choice', 'parallel_tool_calls']) {
      if (!isSet(members[name])) continue
      this.ignored.push(name)
      delete members[name]
    }
  }

  private choiceOf(choice: Json): Json | undefined {
    if (choice === 'required' && this.kept === 0) this.refuseChoice()
    if (!isObject(choice)) return choice
    if (this.isDropped(choice)) this.refuseChoice()
    if (choice['type'] !== 'allowed_tools') return choice
    const left = objectsIn(choice['tools']).filter((tool) => !this.isDropped(tool))
    if (left.length > 0) return { ...choice, tools: left }
    if (choice['mode'] === 'required') this.refuseChoice()
    return 'none'
  }

  private isDropped({ type, name }: JsonObject): boolean {
    const wanted = textOf(type)
    if (wanted === 'namespace') return this.dropped.has(wanted) && name !== undefined
    const [beginning] = kinds.find(([one]) => wanted.startsWith(one)) ?? []
    return beginning !== undefined && [...this.dropped].some((one) => one.startsWith(beginning))
  }

  private refuseChoice(): never {
    const named = [...this.dropped].map(quoted).join(', ')
    refuseField(
      'tool_choice',
      `The model server would run ${named} by itself, and ${this.model.id} has no rate for it. ` +
        'Leave tool_choice out, or choose a tool of your own.',
    )
  }
}

/** A page has a bound only if both its tokens and their number have. */
const isFetchBounded = ({ max_uses: uses, max_content_tokens: tokens }: JsonObject): boolean =>
  typeof uses === 'number' && typeof tokens === 'number'

function usesIn({ max_uses: uses }: JsonObject, path: string): number | undefined {
  return isSet(uses) ? countOf(uses, `${path}.max_uses`) : undefined
}

/** A limit of calls that a client gives. @throws Refusal `invalid_request` */
function countOf(value: Json, path: string): number {
  const isCount = typeof value === 'number' && Number.isInteger(value) && value >= 0
  if (isCount && value <= mostSearches) return value
  refuseField(path, `Send an integer of at most ${mostSearches} here.`)
}
