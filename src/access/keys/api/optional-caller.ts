/** Finds the caller of a route that needs no key. */
import type { Deps } from '../../../app/deps-port.ts'
import { Refusal } from '../../../kernel/refusal.ts'
import { clientAddress, type PeerSource, trustedProxies } from '../../../web/http/client-address.ts'
import type { Caller, Scope } from '../key.ts'
import { assertMay, callerOf } from '../needs-key.ts'

/**
 * The caller of a keyless route that shows more to an owner: undefined without a key, and if the
 * key does not exist, is not usable or lacks `scope`.
 */
export async function optionalCaller(
  { keys, clock, settings }: Pick<Deps, 'keys' | 'clock' | 'settings'>,
  { request, server }: { request: Request; server: PeerSource | null },
  scope: Scope,
): Promise<Caller | undefined> {
  const caller = await callerOf(keys, request)
  if (!caller) return undefined
  try {
    const isTrusted = trustedProxies(settings.trustedProxies)
    assertMay(caller, scope, clock.now(), () => clientAddress(request, server, isTrusted))
    return caller
  } catch (error) {
    if (error instanceof Refusal) return undefined
    throw error
  }
}
