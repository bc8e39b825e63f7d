/** Refuses what would rest on a damaged leaf of the log, names the leaf, and tells the operator. */
import type { Deps } from '../../app/deps-port.ts'
import { Refusal, refuse } from '../../kernel/refusal.ts'
import type { LogSpan } from './logs.ts'
import { LeafDamage, type Place } from './tree.ts'

export type DamageDeps = Pick<Deps, 'logStore' | 'health' | 'log'>

/** Notes damage in the health of this process, once: a whole reading without any ends it. */
export function noteDamage(
  { health, log }: Pick<Deps, 'health' | 'log'>,
  { origin }: LogSpan,
  { leaf, how }: Pick<LeafDamage, 'leaf' | 'how'>,
): void {
  if (health.logDamage?.origin === origin && health.logDamage.leaf === leaf) return
  health.logDamage = { origin, leaf }
  log.error('log.damaged', new Error(`leaf ${leaf} of ${origin}: ${how}`), { advice })
}

const advice = 'run: counterfoil doctor; see docs/signer.md, "A leaf that is damaged"'

/** Reads of the log what an answer rests on. @throws Refusal `log_damaged` for a damaged leaf */
export async function readSound<T>(
  deps: DamageDeps,
  log: LogSpan,
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof LeafDamage)) throw error
    noteDamage(deps, log, error)
    const { leaf } = error
    refuse('log_damaged', {
      message: `Leaf ${leaf} of the log ${log.origin} is damaged. Ask the operator.`,
      metadata: { log: log.origin, leaf },
    })
  }
}

/** Whether a refusal says that no proof can be made now: files go out without one. */
export const isUnprovable = (error: unknown): boolean =>
  error instanceof Refusal && (error.type === 'log_diverged' || error.type === 'log_damaged')

/** @throws LeafDamage that names the leaf of the first wrong subtree, else `leaf` */
export async function throwDamage(
  { logStore }: Pick<Deps, 'logStore'>,
  log: LogSpan,
  { leaf, places }: { leaf: number; places: readonly Place[] },
): Promise<never> {
  const found = await logStore.damaged(log, places)
  throw found ?? new LeafDamage(leaf, 'it is not under the root that was signed')
}
