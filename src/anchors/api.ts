import { Elysia } from 'elysia'
import type { Deps } from '../deps.ts'
import { openToAnyOrigin } from '../http/methods.ts'
import { queryOf, readInteger, readPage } from '../http/query.ts'
import { toListView } from '../kernel/page.ts'
import { refuse } from '../kernel/refusal.ts'
import { toCheckpointView } from '../log/checkpoint.ts'
import { consistencyOf } from '../log/proof.ts'
import { logIdOf } from '../verify/proof.ts'

type Needs = Pick<
  Deps,
  'logStore' | 'logs' | 'checkpoints' | 'signer' | 'clock' | 'settings' | 'log'
>

/**
 * `GET /v1/anchors`: the log's head as it was signed last, and where it stands on the chain, which
 * is nowhere while there is no registry. `from` and `to` add the path between two sizes.
 */
export const anchorsApi = (deps: Needs) =>
  new Elysia({ name: 'anchors-api' }).get(
    '/v1/anchors',
    async ({ request }) => {
      const query = queryOf(request)
      const page = readPage(query)
      if (page.after !== undefined) {
        refuse('invalid_request', { message: 'There is no such anchor.', param: 'after' })
      }
      const size = await deps.logStore.size()
      const latest = await deps.checkpoints.latest(deps.logs.current.origin)
      const to = readInteger(query, 'to', { min: 1, max: size }) ?? latest?.size ?? 0
      const from = readInteger(query, 'from', { min: 1, max: to })
      const origin = deps.settings.issuer
      const checkpoint = latest ? toCheckpointView(latest) : null
      return {
        ...toListView({ items: [], hasMore: false }),
        log: { id: logIdOf(origin), origin, size, checkpoint },
        registry: null,
        ...(from === undefined ? {} : { consistency: await consistencyOf(deps, from, to) }),
      }
    },
    openToAnyOrigin,
  )
