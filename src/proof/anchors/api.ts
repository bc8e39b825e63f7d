/** `GET /v1/anchors`: the anchored heads of the log, and paths between two sizes. */
import { Elysia } from 'elysia'
import type { Deps } from '../../app/deps-port.ts'
import { toListView } from '../../kernel/pagination.ts'
import { refuse, refuseField } from '../../kernel/refusal.ts'
import { logIdOf } from '../../verify/proof.ts'
import { openToAnyOrigin } from '../../web/http/methods.ts'
import { queryOf, readInteger, readPage } from '../../web/http/query.ts'
import { toCheckpointView } from '../log/checkpoint.ts'
import { consistencyOf } from '../log/proof.ts'
import { toAnchorView } from './anchor.ts'

/**
 * `GET /v1/anchors`: the log's head as it was signed last, and the heads that went to the chain,
 * largest first; none while there is no registry. `from` and `to` add the path between two sizes.
 */
export const anchorsApi = (deps: Deps) =>
  new Elysia({ name: 'anchors-api' }).get(
    '/v1/anchors',
    ({ request }) => anchorsOf(deps, queryOf(request)),
    openToAnyOrigin,
  )

/** The answer of `GET /v1/anchors`. */
export type AnchorsList = Awaited<ReturnType<typeof anchorsOf>>

/** The answer of `GET /v1/anchors`. @throws Refusal `invalid_request` */
export async function anchorsOf(deps: Deps, query: URLSearchParams) {
  const { origin } = deps.logs.current
  const page = await deps.anchors.list(origin, readPage(query))
  if (!page) refuseField('after', 'There is no such anchor.')
  const size = await deps.logStore.size()
  const latest = await deps.checkpoints.latest(origin)
  if (!latest) assertNoPath(query)
  const to = readInteger(query, 'to', { min: 1, max: size }) ?? latest?.size ?? 0
  const from = readInteger(query, 'from', { min: 1, max: to })
  const checkpoint = latest ? toCheckpointView(latest) : null
  const place = await deps.anchoring.placeOf(origin)
  return {
    ...toListView({ ...page, items: page.items.map(toAnchorView) }),
    log: { id: logIdOf(origin), origin, size, checkpoint },
    registry: place?.registry ?? null,
    registry_log_id: place?.id ?? null,
    log_owner: place?.owner ?? null,
    ...(from === undefined ? {} : { consistency: await consistencyOf(deps, from, to) }),
  }
}

/** @throws Refusal `invalid_request` when a path is asked for before the first checkpoint. */
function assertNoPath(query: URLSearchParams): void {
  const param = ['from', 'to'].find((name) => query.has(name))
  if (param === undefined) return
  const message =
    'There is no checkpoint of this log yet, so there is no path to it. Leave "from" and "to" ' +
    'out, and ask again when "log.checkpoint" is there: some seconds after the first run has ended.'
  refuse('invalid_request', { message, param })
}
