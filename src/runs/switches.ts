/** Checks the request members that turn something on. */

import { isObject, isSet, type JsonObject } from '../kernel/json-object.ts'
import { refuseField } from '../kernel/refusal.ts'
import type { KeyRow } from '../storage/db/schema/schema.ts'

const switches = ['stream', 'fit'] as const

/**
 * Refuses a member that decides how a request is answered or charged and has the wrong type:
 * `"stream": "true"` would be a plain answer otherwise. `null` counts as absent.
 * @throws Refusal `invalid_request` with `param`
 */
export function checkSwitches(body: JsonObject): void {
  for (const name of switches) assertFlag(name, body[name])
  const options = body['stream_options']
  if (!isSet(options)) return
  if (!isObject(options)) refuseField('stream_options', 'Send stream_options as an object.')
  assertFlag('stream_options.include_usage', options['include_usage'])
}

/**
 * Whether a run is lowered to what can be afforded: the header says, else the body, else its key.
 * @throws Refusal `invalid_request` for another header than true or false
 */
export function isToFit(request: Request, fit: unknown, key: Pick<KeyRow, 'fit'>): boolean {
  const said = request.headers.get('x-counterfoil-fit')
  if (said === null) return typeof fit === 'boolean' ? fit : key.fit
  if (/^(true|false)$/i.test(said)) return said.toLowerCase() === 'true'
  refuseField('X-Counterfoil-Fit', 'Send the header X-Counterfoil-Fit as true or false.')
}

function assertFlag(param: string, value: JsonObject[string] | undefined): void {
  if (!isSet(value) || typeof value === 'boolean') return
  refuseField(param, `Send ${param} as true or false, without quotes.`)
}
