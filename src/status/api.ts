import { Elysia } from 'elysia'
import type { Deps } from '../deps.ts'
import { openToAnyOrigin } from '../http/methods.ts'
import { refuse } from '../kernel/refusal.ts'

type Needs = Pick<Deps, 'status' | 'health' | 'clock' | 'catalogue' | 'logStore' | 'version'>

/** The chain that wallets and anchors are on. */
const chainId = 4663

/** `GET /v1/status`, and the two questions of a supervisor: alive, and ready for traffic. */
export const statusApi = (deps: Needs) =>
  new Elysia({ name: 'status-api' })
    .get('/v1/status', () => statusOf(deps), openToAnyOrigin)
    .get('/livez', () => ({ status: 'ok' }))
    .get('/readyz', async () => {
      if (deps.health.stopping) refuse('unavailable', 'The server is stopping.')
      if (!(await deps.status.ping())) refuse('unavailable', 'The database does not answer.')
      return { status: 'ok' }
    })

/** A part that is off says `disabled`; nothing pretends. */
async function statusOf({ status, health, clock, catalogue, logStore, version }: Needs) {
  const isUp = await status.ping()
  const size = isUp ? await logStore.size() : null
  const live = catalogue.list().filter((model) => model.status === 'live').length
  const isDegraded = !isUp || health.ledger === 'unbalanced'
  return {
    object: 'status',
    status: isDegraded ? 'degraded' : 'ok',
    version: version.version,
    commit: version.commit,
    uptime_s: Math.floor((clock.monotonic() - health.startedAt) / 1000),
    chain: { id: chainId, head: null, lag_s: null, status: 'disabled' },
    log: { size, anchored_size: 0, oldest_unanchored_s: null },
    ledger: health.ledger,
    models: { live, degraded: 0 },
    database: { ...status.database, status: isUp ? 'ok' : 'down' },
    anchors: { status: 'disabled', lag_s: null },
    deposits: { status: 'disabled' },
    features: { chat: true, embeddings: true, runs: true, receipts: true },
  }
}
