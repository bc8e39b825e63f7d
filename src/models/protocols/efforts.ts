/** Translates how much a model is to think: an effort by a word, or a budget in tokens. */
import type { Json } from '../../kernel/canonical.ts'
import { isObject, isSet, type JsonObject, objectOf } from '../../kernel/json-object.ts'
import { objectsIn, textOf } from './reading.ts'
import { detailsOf, isFor } from './reasoning-details.ts'

/** The least that a model may think where it thinks at all, in tokens, as Messages has it. */
export const leastBudget = 1024

/** Efforts in the words of Messages; the highest has another name there. */
const words = new Map([
  ['low', 'low'],
  ['medium', 'medium'],
  ['high', 'high'],
  ['xhigh', 'max'],
])

/** The budget of each effort, in tokens. */
const budgets = new Map([
  ['low', 4096],
  ['medium', 12_288],
  ['high', 24_576],
  ['xhigh', 32_768],
])

/** Efforts that ask for no thinking. */
const none = new Set(['none', 'minimal'])

/**
 * The `reasoning_effort` of a request of Messages. Undefined where it leaves that to the model, or
 * contradicts itself, which `ignored` then names.
 */
export function effortOf(
  thinking: Json | undefined,
  effort: Json | undefined,
  ignored: Set<string>,
): string | undefined {
  const { type, budget_tokens: budget } = objectOf(thinking)
  const word = textOf(effort)
  if (type === 'disabled' && word !== '') {
    ignored.add('thinking').add('output_config.effort')
    return undefined
  }
  if (type === 'disabled') return 'none'
  if (isSet(effort)) return word === 'max' ? 'xhigh' : word
  if (type === 'enabled' && typeof budget === 'number') return effortFor(budget)
  if (isSet(thinking) && type !== 'adaptive') ignored.add('thinking')
  return undefined
}

const effortFor = (budget: number): string =>
  budget <= 4096 ? 'low' : budget <= 16_384 ? 'medium' : 'high'

/** `thinking` and `output_config.effort` for a request; undefined where it cannot be said. */
export type Thinking = { thinking: JsonObject; effort?: string }

/** Translates the effort of a request of Chat Completions for a server of Messages. */
export function thinkingFor(from: JsonObject, maxTokens: Json): Thinking | undefined {
  const effort = textOf(from['reasoning_effort'])
  if (none.has(effort)) return { thinking: { type: 'disabled' } }
  const word = words.get(effort)
  if (word === undefined || isForced(from['tool_choice'])) return undefined
  const model = textOf(from['model'])
  if (isAdaptive(model)) return { thinking: { type: 'adaptive' }, effort: word }
  // A model with a budget begins a turn by signed thinking, or does not think in it at all.
  if (typeof maxTokens !== 'number' || isUnsigned(objectsIn(from['messages']))) return undefined
  const budget = Math.min(budgets.get(effort) ?? leastBudget, Math.floor(maxTokens * 0.75))
  if (budget < leastBudget) return undefined
  const thinking = { type: 'enabled', budget_tokens: budget }
  return /claude/i.test(model) ? { thinking } : { thinking, effort: word }
}

/** Models that think cannot be told to call a tool. */
const isForced = (choice: Json | undefined): boolean =>
  choice === 'required' || (isObject(choice) && choice['type'] !== 'allowed_tools')

/** Claude from 4.6 on thinks as much as an effort says; from 4.7 on it takes no budget. */
function isAdaptive(model: string): boolean {
  if (!/claude/i.test(model)) return false
  const [, major, minor] = /claude-(?:[a-z]+-)?(\d+)(?:[-.](\d{1,2})(?!\d))?/i.exec(model) ?? []
  if (major === undefined) return true
  return Number(major) > 4 || (Number(major) === 4 && Number(minor ?? 0) >= 6)
}

/** Whether the turn that goes on has calls whose reasoning is not there. */
function isUnsigned(messages: JsonObject[]): boolean {
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at] ?? {}
    const { role } = message
    // A message behind results of tools belongs to their turn.
    if (role === 'tool' || messages[at - 1]?.['role'] === 'tool') continue
    if (role !== 'assistant') return false
    if (objectsIn(message['tool_calls']).length === 0) return false
    if (!detailsOf(message).some((detail) => isFor('messages', detail))) return true
  }
  return false
}
