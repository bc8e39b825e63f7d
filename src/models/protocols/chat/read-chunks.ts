/** Reads the chunks of a chat stream, and repairs each choice to what the protocol says it is. */
import type { Json } from '../../../kernel/canonical.ts'
import { isObject, type JsonObject } from '../../../kernel/json-object.ts'
import { isEmpty } from '../../free-members.ts'
import type { EventReader, Outcome, ReadChunk } from '../event-reader.ts'
import { finishOf, isFinishWord } from './finish-word.ts'
import { argumentsOf, CallRepair, indexOf, type NewId } from './repair-calls.ts'

export type ChunkRules = {
  newId: NewId
  hasFunctions?: boolean
  onUnknown?: ((word: string) => void) | undefined
}

/** Chunks that are in order pass as the very same objects. */
export class ChunkReader implements EventReader {
  private readonly choices = new Map<number, ChoiceRepair>()

  constructor(private readonly rules: ChunkRules) {}

  /** Whether a choice finished: what follows may have to wait for the end. */
  hasFinished = false

  read(chunk: JsonObject, _text: string, out: ReadChunk[]): Outcome {
    const { choices } = chunk
    if (isEmpty(choices)) {
      out.push(chunk)
      return undefined
    }
    if (!Array.isArray(choices)) return 'malformed'
    const hasBegun = this.choices.size > 0
    // A whole answer in the place of a stream has all of its choices.
    const isWhole = chunk['object'] === 'chat.completion'
    let repaired: Json[] | undefined
    let hasFailed = false
    for (let at = 0; at < choices.length; at++) {
      const choice = choices[at]
      const index = isObject(choice) ? indexOf(choice['index'] ?? at) : undefined
      if (!isObject(choice) || index === undefined) return 'malformed'
      if (choice['error']) return choice
      const known = this.choices.get(index) ?? this.begin(index)
      const one = known.repair(choice, isWhole)
      hasFailed ||= known.hasFailed
      if (known.isFinished) this.hasFinished = true
      if (one === choice) continue
      repaired ??= [...choices]
      repaired[at] = one
    }
    // A failure before anything came is the whole answer.
    if (!hasFailed || hasBegun) out.push(repaired ? { ...chunk, choices: repaired } : chunk)
    return hasFailed ? { error: { message: 'The answer ends with an error.' } } : undefined
  }

  close(isDone: boolean, out: ReadChunk[]): boolean {
    if (this.choices.size === 0) return false
    const open = [...this.choices.values()].filter(({ isFinished }) => !isFinished)
    if (open.length === 0) return true
    if (!isDone) return false
    out.push({ choices: open.map((choice) => choice.end()) })
    return true
  }

  private begin(index: number): ChoiceRepair {
    const { newId, hasFunctions = false, onUnknown = () => {} } = this.rules
    const choice = new ChoiceRepair(index, {
      // Ids are those of all choices of an answer.
      newId: (place) => newId(index * mostCalls + place),
      hasFunctions,
      onUnknown,
    })
    this.choices.set(index, choice)
    return choice
  }
}

/** More calls than a choice makes. */
const mostCalls = 1000

/** Members of a delta that are text, where they are there. */
const texts = ['reasoning_content', 'reasoning', 'refusal'] as const

type Rules = {
  newId: NewId
  /** Whether functions were asked for as they were before there were tools. */
  hasFunctions: boolean
  /** Takes a finish reason that is not known. */
  onUnknown: (word: string) => void
}

/** One choice of a stream, as far as it came. */
class ChoiceRepair {
  isFinished = false
  /** Whether its server could not go on. */
  hasFailed = false
  private isGreeted = false
  /** The member that has what it says. */
  private saying: 'delta' | 'message' | undefined
  private readonly calls: CallRepair

  constructor(
    readonly index: number,
    private readonly rules: Rules,
  ) {
    this.calls = new CallRepair(rules.newId)
  }

  /** The choice to send: the very same object where nothing is odd. */
  repair(choice: JsonObject, isWhole: boolean): JsonObject {
    const { delta: given, finish_reason: reason } = choice
    const isUsual = isObject(given) && choice['message'] === undefined
    const from = isUsual ? given : this.saidIn(choice)
    if (isUsual && (given['content'] || given['tool_calls'])) this.saying = 'delta'
    let delta = this.repairDelta(from)
    const finish = isFinishWord(reason) ? reason : this.finishOf(reason)
    const ends = typeof finish === 'string' || (isWhole && !this.isFinished)
    if (ends) delta = this.withRest(delta)
    if (ends) this.isFinished = true
    const finish_reason = ends ? this.wordOf(finish ?? 'stop') : (finish ?? null)
    const isSame = isUsual && delta === given && choice['index'] === this.index
    if (isSame && finish_reason === (reason ?? null)) return choice
    const { message: _, text, ...others } = choice
    const more: JsonObject = isUsual && text !== undefined ? { text } : {}
    return { ...others, ...more, index: this.index, delta, finish_reason }
  }

  /** The end of a choice whose server did not say why it ended. */
  end(): JsonObject {
    const delta = this.withRest(this.repairDelta({}))
    this.isFinished = true
    return { index: this.index, delta, finish_reason: this.wordOf('stop') }
  }

  private finishOf(reason: Json | undefined): string | null {
    const { word, unknown } = finishOf(reason)
    if (unknown !== undefined) this.rules.onUnknown(unknown)
    if (word === 'error') this.hasFailed = true
    return word
  }

  /** Some servers finish with `stop` where they called a tool. */
  private wordOf(word: Json): Json {
    return word === 'stop' && this.calls.hasCalls ? 'tool_calls' : word
  }

  /** Reads a choice without a delta, or with a message beside it that may repeat all of it. */
  private saidIn({ delta, message, text }: JsonObject): JsonObject {
    if (isObject(delta) && !isEmpty(delta)) {
      this.saying = 'delta'
      return delta
    }
    if (isObject(message) && this.saying !== 'delta') {
      this.saying = 'message'
      return message
    }
    if (typeof text === 'string') return { content: text }
    return isObject(delta) ? delta : {}
  }

  private repairDelta(delta: JsonObject): JsonObject {
    const { role, content, tool_calls: calls, function_call: old } = delta
    let repaired: JsonObject | undefined
    if (role !== 'assistant' && (role !== undefined || !this.isGreeted)) {
      const { role: _, ...others } = delta
      repaired =
        this.isGreeted && typeof role !== 'string' ? others : { role: 'assistant', ...others }
    }
    this.isGreeted = true
    if (!isText(content)) repaired = { ...(repaired ?? delta), ...joined(delta, content) }
    for (const name of texts) {
      const value = repaired ? repaired[name] : delta[name]
      if (!isText(value)) repaired = { ...(repaired ?? delta), [name]: textOfParts(value ?? null) }
    }
    if (calls !== undefined && calls !== null) {
      const list = Array.isArray(calls) ? calls : [calls]
      const pieces = this.calls.repair(list)
      if (pieces !== calls) repaired = { ...(repaired ?? delta), tool_calls: pieces }
    }
    return isEmpty(old) ? (repaired ?? delta) : this.repairOld(repaired ?? delta, old ?? null)
  }

  /** A call of before there were tools is one of a tool, unless functions were asked for. */
  private repairOld(delta: JsonObject, old: Json): JsonObject {
    const { function_call: _, ...others } = delta
    if (!isObject(old)) return others
    if (!this.rules.hasFunctions) {
      if (!isEmpty(delta['tool_calls'])) return others
      return { ...others, tool_calls: this.calls.repair([{ function: old }]) }
    }
    const { arguments: args } = old
    const isUsual = typeof args === 'string' || args === undefined
    return isUsual ? delta : { ...delta, function_call: { ...old, arguments: argumentsOf(args) } }
  }

  private withRest(delta: JsonObject): JsonObject {
    const rest = this.calls.rest()
    if (rest.length === 0) return delta
    const { tool_calls: calls } = delta
    return { ...delta, tool_calls: [...(Array.isArray(calls) ? calls : []), ...rest] }
  }
}

const isText = (value: Json | undefined): boolean =>
  value === undefined || value === null || typeof value === 'string'

/** A content in parts beside the reasoning of the same delta. */
function joined(delta: JsonObject, content: Json | undefined): JsonObject {
  const members = membersOfParts(content ?? null)
  const { reasoning_content: before } = delta
  const { reasoning_content: after } = members
  if (typeof before === 'string' && typeof after === 'string') {
    members['reasoning_content'] = before + after
  }
  return members
}

/** The texts of a content that is not text. `others` have none: they are handed on as they are. */
type PartTexts = { text: string; reasoning: string; refusal: string; others: Json[] }

const thoughts: ReadonlySet<unknown> = new Set(['thinking', 'reasoning', 'thought'])

function addParts(said: PartTexts, value: Json | undefined, isThought: boolean): void {
  if (value === null || value === undefined) return
  if (Array.isArray(value)) for (const part of value) addParts(said, part, isThought)
  else if (!isObject(value)) said[isThought ? 'reasoning' : 'text'] += String(value)
  else addPart(said, value, isThought || thoughts.has(value['type']))
}

function addPart(said: PartTexts, part: JsonObject, isThought: boolean): void {
  const { text, thinking, reasoning, summary, content, refusal } = part
  if (typeof refusal === 'string') said.refusal += refusal
  else if (isThought) addParts(said, thinking ?? reasoning ?? text ?? summary ?? content, true)
  else if (typeof text === 'string') said.text += text
  else if (thinking !== undefined) addParts(said, thinking, true)
  else if (content !== undefined) addParts(said, content, false)
  else said.others.push(part)
}

/** The text of a member that should be one: a text, parts of it, or anything else. */
function textOfParts(value: Json): string {
  const said = readParts(value)
  return said.reasoning + said.text
}

function readParts(value: Json): PartTexts {
  const said: PartTexts = { text: '', reasoning: '', refusal: '', others: [] }
  addParts(said, value, false)
  return said
}

/** The members of a message whose content came in parts; others go into `content_parts`. */
function membersOfParts(content: Json): JsonObject {
  const { text, reasoning, refusal, others } = readParts(content)
  const members: JsonObject = { content: text === '' ? null : text }
  if (reasoning !== '') members['reasoning_content'] = reasoning
  if (refusal !== '') members['refusal'] = refusal
  if (others.length > 0) members['content_parts'] = others
  return members
}
