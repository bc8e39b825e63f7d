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
  /** Its part of the requests to all upstreams, of 0 to 1. */
  share: number
  /** Mean times to a first token in ms, by its own names of models. */
  latencies: readonly { model: string; ms: number }[]
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
  const askedOf = (id: string) =>
    Number(asked.find(({ labels }) => labels?.['upstream'] === id)?.value ?? 0)
  const all = upstreams.list().reduce((sum, { id }) => sum + askedOf(id), 0)
  return upstreams.list().map(({ id, load, breaker, fault, latencies, keys }) => {
    const reasons = failed
      .filter(({ labels }) => labels?.['upstream'] === id)
      .map(({ labels, value }) => [labels?.['reason'] ?? '', Number(value)] as const)
    return {
      id,
      asked: askedOf(id),
      share: all === 0 ? 0 : askedOf(id) / all,
      latencies: latencies?.list() ?? [],
      failed: reasons.reduce((sum, [, count]) => sum + count, 0),
      reasons,
      load: load?.(),
      breaker: breaker?.().state,
      fault: fault?.(),
      keys: keys?.(),
    }
  })
}

/** The same as JSON. */
export const toUpstreamView = ({
  reasons,
  load,
  keys,
  latencies,
  share,
  ...rest
}: UpstreamHealth) => ({
  ...rest,
  share_bps: Math.round(share * 10_000),
  first_tokens: latencies.map(({ model, ms }) => ({ model, ms: Math.round(ms) })),
  reasons: Object.fromEntries(reasons),
  places: load ?? null,
  ...(keys && { keys: keys.map(({ name, weight, status }) => ({ name, weight, status })) }),
})

export const samplesOf = (families: readonly Family[], named: string): Family['samples'] =>
  families.find(({ name }) => name === named)?.samples ?? []
