/**
 * Finds the classes of units that a request can use. A hold takes the dearest rate of these, not
 * of the model: writing to a cache of an hour needs a breakpoint of an hour, sound needs sound.
 */
import type { Json } from '../kernel/canonical.ts'
import { isObject, isSet, type JsonObject } from '../kernel/json-object.ts'
import type { UsageClass } from './meter.ts'
import type { Prices, RateCard } from './rates.ts'

/** The classes that only some requests use. Every run can read a cache, reason and search. */
const conditional = [
  ...(['cache_write', 'cache_write_1h', 'audio_input', 'image_input'] as const),
  ...(['audio_output', 'image_output'] as const),
]
type Conditional = (typeof conditional)[number]

/** Behaviour of the servers of a model. */
export type ServerFacts = {
  /** They cache by themselves, and bill what they write. */
  billsCacheWrites: boolean
}

/**
 * The classes that a run of this request can use; undefined where the model's rates do not depend
 * on it. `request` is what came, in any protocol: what is wrongly taken for a part of a class only
 * raises the hold.
 */
export function heldClasses(
  { card }: Prices,
  request: JsonObject,
  { billsCacheWrites }: ServerFacts,
): ReadonlySet<UsageClass> | undefined {
  if (!card || !hasConditional(card)) return undefined
  const held = new Set<UsageClass>(['cache_read', 'reasoning', 'web_search'])
  if (billsCacheWrites || isSet(request['prompt_cache_key'])) held.add('cache_write')
  const keeps = [request['prompt_cache_retention'], request['prompt_cache_options']]
  if (keeps.some((one) => isSet(one))) addAll(held, ['cache_write', 'cache_write_1h'])
  const { modalities } = request
  if (Array.isArray(modalities)) for (const name of modalities) addSaid(held, name)
  if (isSet(request['audio'])) held.add('audio_output')
  if (isReferring(request)) addAll(held, conditional)
  addFrom(held, request)
  return held
}

const addAll = (held: Set<UsageClass>, classes: readonly Conditional[]): void => {
  for (const one of classes) held.add(one)
}

/** Asked for by the name of a modality. */
function addSaid(held: Set<UsageClass>, name: Json): void {
  if (name === 'audio') held.add('audio_output')
  else if (name !== 'text') addAll(held, ['image_output', 'audio_output'])
}

/** A conversation that is stored elsewhere can hold anything. */
const isReferring = (request: JsonObject): boolean =>
  isSet(request['previous_response_id']) || isSet(request['conversation'])

/** Looks through a value of a request for what uses a class. */
function addFrom(held: Set<UsageClass>, value: Json | undefined): void {
  if (Array.isArray(value)) {
    for (const item of value) addFrom(held, item)
    return
  }
  if (!isObject(value)) return
  for (const name in value) {
    const member = value[name]
    if (name === 'type' && typeof member === 'string') addTyped(held, member)
    else if (name === 'cache_control' && isSet(member)) addBreakpoint(held, member)
    else if (typeof member === 'object') addFrom(held, member)
  }
}

/** A breakpoint whose time is not the usual one may be of an hour. */
function addBreakpoint(held: Set<UsageClass>, mark: Json): void {
  held.add('cache_write')
  const ttl = isObject(mark) ? mark['ttl'] : undefined
  if (isSet(ttl) && ttl !== '5m') held.add('cache_write_1h')
}

const imageTypes = /image|file|document|screenshot|video|media/
const audioTypes = /audio|video|file|media/

/** A part, an item or a tool by its type; one that stands elsewhere can be anything. */
function addTyped(held: Set<UsageClass>, type: string): void {
  if (type === 'text' || type === 'function') return
  if (type === 'item_reference') addAll(held, conditional)
  else if (type === 'image_generation') addAll(held, ['image_input', 'image_output'])
  else {
    if (imageTypes.test(type)) held.add('image_input')
    if (audioTypes.test(type)) held.add('audio_input')
  }
}

/** Whether any rate of the card is of a class that not all requests use. */
function hasConditional(card: RateCard): boolean {
  for (const steps of card.steps.values()) {
    for (const { rates } of steps) {
      if (conditional.some((meter) => rates[meter] !== undefined)) return true
    }
  }
  return false
}
