import type { Deps } from '../../app/deps-port.ts'
import type { Millis } from '../../kernel/clock.ts'
import { isId } from '../../kernel/ids.ts'
import { type Page, type PageRequest, toPage } from '../../kernel/pagination.ts'
import { refuse } from '../../kernel/refusal.ts'
import { type KeyStatus, statusOf } from './key.ts'
import type { ShownKey } from './shown-key.ts'

/** What an owner asks to see of their keys; each that is left out asks for nothing. */
export type Wanted = { state?: KeyStatus | undefined; name?: string | undefined }

type Needs = Pick<Deps, 'keys' | 'clock'>

/**
 * The keys of an account as its owner looks at them: of those that are active, which are given,
 * all that fit, in their order; of those that ended a page, newest first.
 * @throws Refusal `invalid_request` for an `after` that is not of this account.
 */
export async function browseKeys(
  deps: Needs,
  { account, active }: { account: string; active: readonly ShownKey[] },
  { state, name }: Wanted,
  page: PageRequest,
): Promise<Page<ShownKey>> {
  await assertOwn(deps, account, page)
  const now = deps.clock.now()
  if (state === 'expired' || state === 'revoked') {
    return deps.keys.listAll(account, { ended: state, name }, page, now)
  }
  return { items: active.filter((shown) => fits(shown, { state, name }, now)), hasMore: false }
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
  await assertOwn(deps, account, page)
  const now = deps.clock.now()
  if (state !== 'usable' && state !== 'paused') {
    return deps.keys.listAll(account, { ended: state, name }, page, now)
  }
  const { after, limit } = page
  const rest = (await deps.keys.tree(account, now))
    .filter((shown) => fits(shown, { state, name }, now))
    .filter(({ key }) => after === undefined || key.id < after)
    .sort((a, b) => (a.key.id < b.key.id ? 1 : -1))
  return toPage(rest, limit)
}

const fits = ({ key, chain }: ShownKey, { state, name = '' }: Wanted, now: Millis): boolean =>
  (state === undefined || statusOf(chain, now) === state) &&
  key.name.toLowerCase().includes(name.toLowerCase())

async function assertOwn({ keys }: Needs, account: string, { after }: PageRequest): Promise<void> {
  if (after === undefined) return
  const key = isId('key', after) ? await keys.find(after) : undefined
  if (key?.accountId === account) return
  const message = '"after" must be the id of an item of this list.'
  refuse('invalid_request', { param: 'after', message })
}
