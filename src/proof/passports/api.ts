/** Routes under /v1/passports: public passports and their records. */
import { Elysia } from 'elysia'
import type { Deps } from '../../app/deps-port.ts'
import { toListView } from '../../kernel/pagination.ts'
import { ownShard } from '../../kernel/shard.ts'
import { openToAnyOrigin } from '../../web/http/methods.ts'
import { queryOf, readChoice, readPage } from '../../web/http/query.ts'
import { browsePassports, findPublicPassport, placeOf, sorts } from './browse.ts'
import { toPassportView, toReceiptView, toStatementView } from './passport-view.ts'
import { kinds } from './profile.ts'
import { toRegistrationFile } from './registration.ts'
import type { Standing } from './store/standing.ts'

/** Receipts that are named beside a passport. */
const receiptsMax = 20

export const passportsApi = (deps: Deps) =>
  new Elysia({ name: 'passports-api' })
    .get(
      '/v1/passports',
      async ({ request }) => {
        const query = queryOf(request)
        const kind = readChoice(query, 'kind', kinds)
        const sort = readChoice(query, 'sort', sorts) ?? 'newest'
        const found = await browsePassports(deps, { kind, sort }, readPage(query))
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
        const query = queryOf(request)
        const standing = await findPublicPassport(deps, params.handle)
        const format = readChoice(query, 'format', ['json', 'erc8004']) ?? 'json'
        const { row } = standing
        if (format === 'erc8004') return toRegistrationFile(row, deps.settings.baseUrl)
        const wantsReceipts = readChoice(query, 'receipts', ['0', '1']) === '1'
        const view = await passportOf(deps, standing)
        if (!wantsReceipts) return view
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
