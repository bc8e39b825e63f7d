/** Tells the models and the requests that reason, of which a client may see nothing. */
import { isObject, isSet, type JsonObject } from '../kernel/json-object.ts'
import type { Model } from './model.ts'
import { dearestPrices } from './step-prices.ts'

/** Names of models that reason unless they are told not to, at whichever server. */
const reasoningNames =
  /(^|\/)(o[134]($|[-:])|gpt-([5-9]|oss)(?!.*chat)|grok-[4-9]|gemini-(2\.5|[3-9])|deepseek-r|qwq)/i

/** Whether a model reasons: its operator says so, has a rate for it, or its name is known. */
export const isReasoning = (model: Model): boolean =>
  model.features.includes('reasoning') ||
  dearestPrices(model).card?.classes.reasoning !== undefined ||
  model.route.some((step) => reasoningNames.test(step.model))

/** Whether a request asks for reasoning, in any protocol. */
export function asksReasoning(request: JsonObject): boolean {
  const { reasoning_effort: effort, reasoning, thinking, output_config: config } = request
  if (isLevel(effort) || isThinking(reasoning) || isThinking(thinking)) return true
  if (isObject(config) && isLevel(config['effort'])) return true
  const { enable_thinking: isOn, chat_template_kwargs: template } = request
  if (isOn === true) return true
  return (
    isObject(template) && (template['enable_thinking'] === true || template['thinking'] === true)
  )
}

const isLevel = (effort: unknown): boolean => typeof effort === 'string' && effort !== 'none'

/** A member that asks for it, unless it says that it does not. */
function isThinking(member: JsonObject[string] | undefined): boolean {
  if (!isSet(member) || member === false) return false
  if (!isObject(member)) return true
  const { type, enabled, effort } = member
  return type !== 'disabled' && enabled !== false && effort !== 'none'
}
