/** Refuses what would change the bill or the promise of a chat, and is not served here. */
import type { Json } from '../kernel/canonical.ts'
import { isObject, isSet, type JsonObject } from '../kernel/json-object.ts'
import { refuseField } from '../kernel/refusal.ts'
import type { Model } from '../models/model.ts'

/** A member of a request that asks for something, and what to do instead. */
type UnservedMember = { asks(value: Json): boolean; instead: string }

const always = isSet
const isTrue = (value: Json): boolean => value === true
const search =
  'Searches of the model server are not sold on this route. Leave it out, or send a search tool ' +
  'to POST /v1/responses or /v1/messages where the model has a rate for one.'

/**
 * Members that are never ignored: an answer without them would not be what was asked for, or one
 * with them would cost more than its hold. Others without effect are named in a header.
 */
const unserved: readonly [name: string, member: UnservedMember][] = [
  [
    'modalities',
    {
      asks: (value) => !Array.isArray(value) || value.some((one) => one !== 'text'),
      instead: 'Only text is written here. Send modalities as ["text"], or leave it out.',
    },
  ],
  ['audio', { asks: always, instead: 'Sound is not written here. Leave audio out.' }],
  ['web_search_options', { asks: always, instead: search }],
  ['search_parameters', { asks: isSearch, instead: search }],
  ['enable_search', { asks: isTrue, instead: search }],
  [
    'plugins',
    {
      asks: (value) => !Array.isArray(value) || value.length > 0,
      instead: 'Plugins do not run here. Leave plugins out.',
    },
  ],
  [
    'background',
    {
      asks: isTrue,
      instead: 'Use POST /v1/runs with "background": true, or leave background out.',
    },
  ],
  ['deferred', { asks: isTrue, instead: 'Use POST /v1/runs with "background": true.' }],
  [
    'previous_response_id',
    { asks: always, instead: 'Send all messages of the conversation here; it has no ids.' },
  ],
  [
    'conversation',
    { asks: always, instead: 'Send all messages of the conversation here; it has no ids.' },
  ],
]

/**
 * Members that the operator passes to the model's server are his to answer for.
 * @throws Refusal `invalid_request` with `param`
 */
export function assertServed({ pass }: Model, body: JsonObject): void {
  for (const [name, { asks, instead }] of unserved) {
    const value = body[name]
    if (isSet(value) && asks(value) && !pass?.includes(name)) refuseField(name, instead)
  }
}

function isSearch(parameters: Json): boolean {
  return !isObject(parameters) || parameters['mode'] !== 'off'
}
