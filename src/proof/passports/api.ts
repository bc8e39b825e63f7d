/** Routes under /v1/passports: public passports and their records. */
import { Elysia } from 'elysia'
import type { Deps } from '../../app/deps-port.ts'
import { toListView } from '../../kernel/pagination.ts'
import { ownShard } from '../../kernel/shard.ts'
import { openToAnyOrigin } from '../../web/http/methods.ts'
import { queryOf } from '../../web/http/query.ts'
import { passportQuery, passportsQuery } from './api/passport-query.ts'
import { browsePassports, findPublicPassport, placeOf } from './browse.ts'
import { toPassportView, toReceiptView, toStatementView } from './passport-view.ts'
import { toRegistrationFile } from './registration.ts'
import type { Standing } from './store/standing.ts'

/** Receipts that are named beside a passport. */
const receiptsMax = 20

export const passportsApi = (deps: Deps) =>
  new Elysia({ name: 'passports-api' })
    .get(
      '/v1/passports',
      async ({ request }) => {
        const asked = passportsQuery.read(queryOf(request))
        const { kind, sort = 'newest', limit, after } = asked
        const found = await browsePassports(deps, { kind, sort }, { limit, after })
        const items = found.items.map((standing) => toPassportView(deps, standing))
        const list = toListView({ items, hasMore: found.hasMore })
        const last = found.items.at(-1)
        const lastId = last ? placeOf(last.row, sort) : null
        return { ...list, last_id: lastId, ...ownShard(deps.shard) }
      },
      openToAnyOrigin,
    )
    .get(
      '/v1/passports/:handle',
      async ({ params, request }) => {
        const standing = await findPublicPassport(deps, params.handle)
        const { format, receipts: named } = passportQuery.read(queryOf(request))
        const { row } = standing
        if (format === 'erc8004') return toRegistrationFile(row, deps.settings.baseUrl)
        const view = await passportOf(deps, standing)
        if (named !== '1') return view
        const receipts = await deps.passports.publicReceipts(row, receiptsMax)
        return { ...view, receipts: receipts.map((one) => toReceiptView(deps, one)) }
      },
      openToAnyOrigin,
    )

/** The answer of `GET /v1/passports/:handle`. */
export async function passportOf(deps: Deps, standing: Standing) {
  const statement = await deps.passports.newestStatement(standing.row.handle)
  return {
    ...toPassportView(deps, standing),
    ...ownShard(deps.shard),
    statement: toStatementView(deps, statement),
  }
}
