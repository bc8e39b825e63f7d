/** Decides whether the answer to a request is kept. */
import type { Deps } from '../../app/deps-port.ts'
import type { Json } from '../../kernel/canonical.ts'
import { isSet } from '../../kernel/json-object.ts'
import { refuseField } from '../../kernel/refusal.ts'
import { isKeeping } from '../../storage/responses/keeping.ts'

/**
 * Whether the answer to a request is kept: unless it says `store: false`, as its protocol has it.
 * @throws Refusal `invalid_request`
 */
export function isToKeep(
  deps: Pick<Deps, 'settings' | 'texts'>,
  account: string,
  store: Json | undefined,
): boolean | Promise<boolean> {
  if (store === false) return false
  if (store !== true && isSet(store)) {
    refuseField('store', 'Send store as true or false.')
  }
  return isKeeping(deps, account)
}
