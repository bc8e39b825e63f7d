/** Serves /metrics on the listener that the configuration names. */

import { serveRequests } from '../web/http/serve.ts'
import type { Deps } from './deps-port.ts'
import { metricsDoor } from './metrics/api/listener.ts'
import { metricsReader } from './metrics/collect.ts'
import { watchLag } from './metrics/lag.ts'
import { metricsStore } from './metrics/store.ts'
import type { Parts } from './wiring.ts'

/** `/metrics` on the listener of its own that the configuration names; undefined without one. */
export function serveMetrics(
  deps: Deps,
  { config, db, readProcess }: Pick<Parts, 'config' | 'db' | 'readProcess'>,
): { url: string; stop(): Promise<void> } | undefined {
  if (!config.metrics.listen) return undefined
  const listen = { ...config.metrics.listen }
  const read = metricsReader({ ...deps, metrics: metricsStore(db), readProcess })
  const server = serveRequests(metricsDoor({ listen, read }), listen)
  // A start that fails later must not be kept alive by it.
  server.unref()
  const lag = watchLag(deps.clock, deps.meters.lagged)
  const host = listen.hostname.includes(':') ? `[${listen.hostname}]` : listen.hostname
  const url = `http://${host}:${listen.port}/metrics`
  deps.log.info('metrics.listening', { url })
  return {
    url,
    stop: async () => {
      lag.stop()
      await server.stop(true)
    },
  }
}
