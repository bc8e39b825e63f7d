import type { Deps } from '../deps.ts'
import { isId } from '../kernel/ids.ts'
import type { Page, PageRequest } from '../kernel/page.ts'
import { refuse } from '../kernel/refusal.ts'
import { type KeyStatus, statusOf } from './key.ts'
import type { ShownKey } from './shown.ts'

/** What an owner asks to see of their keys; each that is left out asks for nothing. */
export type Wanted = { state?: KeyStatus | undefined; name?: string | undefined }

type Needs = Pick<Deps, 'keys' | 'clock'>

/**
 * The keys of an account as its owner looks at them: those that are active all at once and in tree
 * order, of which there are 500 at most; those that ended by page, newest first.
 * @throws Refusal `invalid_request` for an `after` that is not of this account.
 */
export async function browseKeys(
  deps: Needs,
  account: string,
  { state, name }: Wanted,
  page: PageRequest,
): Promise<Page<ShownKey>> {
  await assertOwn(deps, account, page)
  const now = deps.clock.now()
  if (state === 'expired' || state === 'revoked') {
    return deps.keys.listAll(account, { ended: state, name }, page, now)
  }
  const words = name?.toLowerCase() ?? ''
  const items = (await deps.keys.tree(account, now)).filter(
    ({ key, chain }) =>
      (state === undefined || statusOf(chain, now) === state) &&
      key.name.toLowerCase().includes(words),
  )
  return { items, hasMore: false }
}

/**
 * The keys of an account as a list: newest first, by page, whatever their state.
 * @throws Refusal `invalid_request` for an `after` that is not of this account.
 */
export async function listKeys(
  deps: Needs,
  account: string,
  { state, name }: Wanted,
  page: PageRequest,
): Promise<Page<ShownKey>> {
  if (state === 'usable' || state === 'paused') {
    const { items } = await browseKeys(deps, account, { state, name }, page)
    const { after, limit } = page
    const rest = items
      .filter(({ key }) => after === undefined || key.id < after)
      .sort((a, b) => (a.key.id < b.key.id ? 1 : -1))
    return { items: rest.slice(0, limit), hasMore: rest.length > limit }
  }
  await assertOwn(deps, account, page)
  return deps.keys.listAll(account, { ended: state, name }, page, deps.clock.now())
}

async function assertOwn({ keys }: Needs, account: string, { after }: PageRequest): Promise<void> {
  if (after === undefined) return
  const key = isId('key', after) ? await keys.find(after) : undefined
  if (key?.accountId === account) return
  const message = '"after" must be the id of an item of this list.'
  refuse('invalid_request', { param: 'after', message })
}
