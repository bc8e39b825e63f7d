/** The operator's figures about each upstream. */
import type { Deps } from '../../app/deps-port.ts'
import type { Family } from '../../kernel/exposition.ts'
import type { KeyHealth } from '../../models/upstream/key-health.ts'
import type { Fault } from '../../models/upstream/operator-fault.ts'
import type { BreakerState } from '../../models/upstream/upstream.ts'

/** Counts of this process since its start. */
export type UpstreamHealth = {
  id: string
  asked: number
  failed: number
  reasons: readonly (readonly [reason: string, count: number])[]
  /** Undefined without a concurrency limit. */
  load: { taken: number; waiting: number; most: number } | undefined
  /** Undefined without a circuit breaker. */
  breaker: BreakerState | undefined
  /** Undefined while it takes our key and account. */
  fault: Fault | undefined
  /** Undefined where it has one key. */
  keys: readonly KeyHealth[] | undefined
}

/** The currently configured upstreams with their counts. */
export function upstreamHealth({
  upstreams,
  meters,
}: Pick<Deps, 'upstreams' | 'meters'>): UpstreamHealth[] {
  const families = meters.families()
  const asked = samplesOf(families, 'counterfoil_upstream_requests_total')
  const failed = samplesOf(families, 'counterfoil_upstream_failures_total')
  return upstreams.list().map(({ id, load, breaker, fault, keys }) => {
    const reasons = failed
      .filter(({ labels }) => labels?.['upstream'] === id)
      .map(({ labels, value }) => [labels?.['reason'] ?? '', Number(value)] as const)
    return {
      id,
      asked: Number(asked.find(({ labels }) => labels?.['upstream'] === id)?.value ?? 0),
      failed: reasons.reduce((sum, [, count]) => sum + count, 0),
      reasons,
      load: load?.(),
      breaker: breaker?.().state,
      fault: fault?.(),
      keys: keys?.(),
    }
  })
}

export const samplesOf = (families: readonly Family[], named: string): Family['samples'] =>
  families.find(({ name }) => name === named)?.samples ?? []
