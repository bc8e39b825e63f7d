/** Makes of the choices of one stream what the protocol says they are. */
import type { Json } from '../../../kernel/canonical.ts'
import { isObject, type JsonObject } from '../../../kernel/json-object.ts'
import { isEmpty } from '../../free-members.ts'
import { membersOfParts, textOfParts } from './content-parts.ts'
import { finishOf, isFinishWord } from './finish-word.ts'
import { argumentsOf, CallRepair, type NewId } from './repair-calls.ts'

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
export class ChoiceRepair {
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
