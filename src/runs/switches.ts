/** Checks the request members that turn something on. */
import { type Body, isBody, isSet, refuseField } from '../models/body.ts'

const switches = ['stream', 'fit'] as const

/**
 * Refuses a member that decides how a request is answered or charged and has the wrong type:
 * `"stream": "true"` would be a plain answer otherwise. `null` counts as absent.
 * @throws Refusal `invalid_request` with `param`
 */
export function checkSwitches(body: Body): void {
  for (const name of switches) assertFlag(name, body[name])
  const options = body['stream_options']
  if (!isSet(options)) return
  if (!isBody(options)) refuseField('stream_options', 'Send stream_options as an object.')
  assertFlag('stream_options.include_usage', options['include_usage'])
}

function assertFlag(param: string, value: Body[string] | undefined): void {
  if (!isSet(value) || typeof value === 'boolean') return
  refuseField(param, `Send ${param} as true or false, without quotes.`)
}
