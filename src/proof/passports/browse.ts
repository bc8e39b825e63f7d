/** Lists passports, public or one's own, and finds public ones. */
import type { Deps } from '../../app/deps-port.ts'
import { isId } from '../../kernel/ids.ts'
import type { Page, PageRequest } from '../../kernel/pagination.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { PassportRow } from '../../storage/db/schema/schema.ts'
import { isHandle } from './handle.ts'
import type { Kind } from './profile.ts'
import type { Standing } from './store/standing.ts'

export const sorts = ['newest', 'runs'] as const
export type Sort = (typeof sorts)[number]

/**
 * The public passports, newest first or busiest first, from behind a {@link placeOf} on. No page
 * shows one again, for runs only grow; by runs one that rises past the place meanwhile is passed
 * over, by age none is.
 * @throws Refusal `invalid_request` for an `after` that was never public.
 */
export async function browsePassports(
  { passports }: Pick<Deps, 'passports'>,
  { kind, sort }: { kind: Kind | undefined; sort: Sort },
  page: PageRequest,
): Promise<Page<Standing>> {
  const { after, limit } = page
  if (after === undefined) return passports.listPublic({ kind, sort }, { after, limit })
  const { id = '', runs } = placePattern[sort].exec(after)?.groups ?? {}
  const last = isId('psp', id) ? await passports.findId(id) : undefined
  // Hidden since the page before was read, it still says where to go on.
  if (!last?.publishedAt) refuseAfter()
  const place = { ...last, runs: runs === undefined ? last.runs : Number(runs) }
  return passports.listPublic({ kind, sort }, { after: place, limit })
}

/** The cursor behind a passport. Sorted by runs it has their number, because that may grow. */
export const placeOf = ({ id, runs }: PassportRow, sort: Sort): string =>
  sort === 'runs' ? `${id}.${runs}` : id

const placePattern = {
  newest: /^(?<id>\w+)$/,
  runs: /^(?<id>\w+)(?:\.(?<runs>0|[1-9]\d{0,14}))?$/,
}

/** @throws Refusal `invalid_request` for an `after` that is not of this account. */
export async function listPassports(
  { passports }: Pick<Deps, 'passports'>,
  account: string,
  page: PageRequest,
): Promise<Page<Standing>> {
  const { after } = page
  if (after !== undefined) {
    const last = isId('psp', after) ? await passports.findId(after) : undefined
    if (last?.accountId !== account) refuseAfter()
  }
  return passports.listOwn(account, page)
}

/**
 * A public passport with its record.
 * @throws Refusal `not_found` also for a draft or a hidden passport; `gone` for a retired one.
 */
export async function findPublicPassport(
  { passports }: Pick<Deps, 'passports'>,
  handle: string,
): Promise<Standing> {
  const standing = isHandle(handle) ? await passports.stand(handle) : undefined
  const status = standing?.row.status
  if (status === 'retired') {
    refuse('gone', 'This passport was retired. Its handle is never reused.')
  }
  if (standing && status === 'public') return standing
  refuse('not_found', 'This passport does not exist.')
}

function refuseAfter(): never {
  const message = '"after" must be the id of an item of this list.'
  refuse('invalid_request', { param: 'after', message })
}
