import type { Deps } from '../../app/deps-port.ts'
import type { BreakerState } from '../../models/upstream/breaker.ts'
import type { Family } from '../metrics/exposition.ts'

/** What an upstream did for this process since its start. */
export type UpstreamHealth = {
  id: string
  asked: number
  failed: number
  reasons: readonly (readonly [reason: string, count: number])[]
  /** Undefined where its places are not limited. */
  load: { taken: number; waiting: number; most: number } | undefined
  /** Undefined where its failures are not counted. */
  breaker: BreakerState | undefined
}

/** The upstreams of the configuration of now, as they were counted. */
export function upstreamHealth({
  upstreams,
  meters,
}: Pick<Deps, 'upstreams' | 'meters'>): UpstreamHealth[] {
  const families = meters.families()
  const asked = samplesOf(families, 'counterfoil_upstream_requests_total')
  const failed = samplesOf(families, 'counterfoil_upstream_failures_total')
  return upstreams.list().map(({ id, load, breaker }) => {
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
    }
  })
}

const samplesOf = (families: readonly Family[], named: string): Family['samples'] =>
  families.find(({ name }) => name === named)?.samples ?? []
