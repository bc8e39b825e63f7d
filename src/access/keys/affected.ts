/** Counts what a revocation stops, to be shown before it is confirmed. */
import type { Deps } from '../../app/deps-port.ts'
import { refuse } from '../../kernel/refusal.ts'

/** The keys and runs that a revocation also stops. */
export type RevocationImpact = { keysBelow: number; runsInFlight: number }

/**
 * Counts the keys below that are neither revoked nor expired, and the runs in flight of the key and
 * of all below it.
 * @throws Refusal `not_found`.
 */
export async function countAffected(
  { keys, clock }: Pick<Deps, 'keys' | 'clock'>,
  keyId: string,
): Promise<RevocationImpact> {
  const found = (await keys.find(keyId)) ?? refuse('not_found', 'There is no such key.')
  const [below, runs] = await Promise.all([keys.below(found), keys.runsInFlight(found.accountId)])
  const now = clock.now()
  const active = below.filter((key) => key.revokedAt === null && key.expiresAt > now)
  const ids = new Set(below.map((key) => key.id))
  return {
    keysBelow: active.filter((key) => key.id !== keyId).length,
    runsInFlight: runs.filter((run) => ids.has(run.keyId)).length,
  }
}
