/** Routes under /v1/explorer: public receipts in numbers and as they arrive. */
import { Elysia } from 'elysia'
import { type PageRequest, toListView } from '../../kernel/pagination.ts'
import { refuseField } from '../../kernel/refusal.ts'
import { ownShard } from '../../kernel/shard.ts'
import { toAnchorView } from '../../proof/anchors/anchor.ts'
import { browsePassports } from '../../proof/passports/browse.ts'
import { toPassportView } from '../../proof/passports/passport-view.ts'
import { answerFresh } from '../../web/http/etag.ts'
import { openToAnyOrigin } from '../../web/http/methods.ts'
import { queryOf, readInteger, readPage } from '../../web/http/query.ts'
import { recentQuery, statsQuery } from './api/explorer-query.ts'
import type { PublicDeps } from './public-cache.ts'
import { toSeenView } from './recent.ts'
import { freshMs, toStatsView } from './stats.ts'

export const explorerApi = (deps: PublicDeps) =>
  new Elysia({ name: 'explorer-api' })
    .get(
      '/v1/explorer/stats',
      async ({ request, set }) => {
        const { window = '24h' } = statsQuery.read(queryOf(request))
        const answer = answerFresh(request, set, {
          ...toStatsView(await deps.publicCache.stats(window)),
          ...ownShard(deps.shard),
        })
        set.headers['cache-control'] = `public, max-age=${freshMs / 1000}`
        return answer
      },
      openToAnyOrigin,
    )
    .get(
      '/v1/explorer/recent',
      async ({ request, set }) => {
        const query = queryOf(request)
        const { type = 'receipt' } = recentQuery.read(query)
        return answerFresh(request, set, {
          ...(await listOf(deps, type, query)),
          ...ownShard(deps.shard),
        })
      },
      openToAnyOrigin,
    )

async function listOf(
  deps: PublicDeps,
  type: 'receipt' | 'anchor' | 'passport',
  query: URLSearchParams,
) {
  const page = readPage(query)
  if (type === 'receipt') return receiptsOf(deps, page, query)
  if (type === 'anchor') {
    const found = await deps.anchors.list(deps.logs.current.origin, page)
    if (!found) refuseField('after', 'There is no such anchor.')
    return toListView({ ...found, items: found.items.map(toAnchorView) })
  }
  const found = await browsePassports(deps, { kind: undefined, sort: 'newest' }, page)
  const items = found.items.map((one) => toPassportView(deps, one))
  return toListView({ ...found, items })
}

/** Pages by the place in the log, which does not reveal the owner of a receipt. */
export async function receiptsOf(
  deps: Pick<PublicDeps, 'publicCache' | 'settings'>,
  { limit }: PageRequest,
  query: URLSearchParams,
) {
  const before = readInteger(query, 'after', { min: 0, max: Number.MAX_SAFE_INTEGER })
  const { items, hasMore } = await deps.publicCache.recent(before ?? Number.MAX_SAFE_INTEGER, limit)
  return {
    object: 'list' as const,
    data: items.map((one) => toSeenView(one, deps.settings)),
    has_more: hasMore,
    first_id: placeId(items.at(0)),
    last_id: placeId(items.at(-1)),
  }
}

const placeId = (seen: { place: number } | undefined): string | null =>
  seen ? String(seen.place) : null
