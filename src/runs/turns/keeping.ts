/** Decides whether the answers of an account are kept for a next turn, and for how long. */
import type { Deps } from '../../app/deps-port.ts'
import type { Json } from '../../kernel/canonical.ts'
import type { Millis } from '../../kernel/clock.ts'
import { refuse } from '../../kernel/refusal.ts'
import { isSet } from '../../models/body.ts'

/** How long a response is kept after its last use. */
export const keptMs = ({
  keepResponsesHours,
}: Pick<Deps['settings'], 'keepResponsesHours'>): Millis => keepResponsesHours * 3_600_000

/** False where the operator forbids it, and for an account that asked to keep nothing. */
export const isKeeping = (
  { settings, texts }: Pick<Deps, 'settings' | 'texts'>,
  account: string,
): boolean | Promise<boolean> => settings.keepResponsesHours > 0 && texts.keepsResponses(account)

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
    refuse('invalid_request', { param: 'store', message: 'Send store as true or false.' })
  }
  return isKeeping(deps, account)
}
