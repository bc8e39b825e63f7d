/** `/liabilities`: the sum of all balances, and the proof that it counts one of them. */
import { Elysia } from 'elysia'
import { assertRoot } from '../../access/keys/key.ts'
import { keyAuth } from '../../access/keys/needs-key.ts'
import type { Deps } from '../../app/deps-port.ts'
import { type PageRequest, toListView } from '../../kernel/pagination.ts'
import { refuse, refuseField } from '../../kernel/refusal.ts'
import { openToAnyOrigin } from '../../web/http/methods.ts'
import { queryOf, readInteger, readPage } from '../../web/http/query.ts'
import { fileOf, ownFile, toItem } from './liabilities.ts'

export const liabilitiesPath = '/liabilities'

/** `GET /liabilities`, `/liabilities/:number` for everybody, `/liabilities/proof` with a key. */
export const liabilitiesApi = (deps: Deps) =>
  new Elysia({ name: 'liabilities-api' })
    .use(keyAuth(deps))
    .get(
      liabilitiesPath,
      async ({ request }) => {
        const page = readPage(queryOf(request))
        const below = await readBelow(deps, page)
        const { items, hasMore } = await deps.liabilities.list({ limit: page.limit, below })
        return toListView({ items: items.map((row) => toItem(deps, row)), hasMore })
      },
      openToAnyOrigin,
    )
    .get(
      `${liabilitiesPath}/proof`,
      ({ caller, request }) => {
        assertRoot(caller.key, 'The proof is of the whole account')
        return ownFile(deps, caller.account, readNumber(queryOf(request)))
      },
      { needsKey: 'usage:read' },
    )
    .get(
      `${liabilitiesPath}/:number`,
      async ({ params }) => {
        const row = await deps.liabilities.find(numberIn(params.number) ?? 0)
        return row ? fileOf(deps, row) : refuse('not_found', 'There is no such statement.')
      },
      openToAnyOrigin,
    )

/** `number` of a query, undefined for the newest. @throws Refusal `invalid_request` */
export const readNumber = (query: URLSearchParams): number | undefined =>
  readInteger(query, 'number', { min: 1, max: Number.MAX_SAFE_INTEGER })

const numberIn = (text: string): number | undefined =>
  /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined

/** @throws Refusal `invalid_request` for one that is not there */
async function readBelow(
  { liabilities }: Pick<Deps, 'liabilities'>,
  { after }: PageRequest,
): Promise<number | undefined> {
  if (after === undefined) return undefined
  const number = numberIn(after)
  if (number !== undefined && (await liabilities.find(number))) return number
  refuseField('after', 'There is no such statement.')
}
