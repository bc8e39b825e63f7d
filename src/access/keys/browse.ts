/** Lists the keys of an account for its owner. */
import type { Deps } from '../../app/deps-port.ts'
import type { KeyScope } from '../../kernel/acting.ts'
import type { Millis } from '../../kernel/clock.ts'
import { isId } from '../../kernel/ids.ts'
import { type Page, type PageRequest, toPage } from '../../kernel/pagination.ts'
import { refuse } from '../../kernel/refusal.ts'
import { type KeyStatus, statusOf } from './key.ts'
import { isKeyOf } from './owns.ts'
import type { ShownKey } from './shown-key.ts'

/** Filters of a list of keys. */
export type KeyListFilter = { state?: KeyStatus | undefined; name?: string | undefined }

/**
 * Filters the active keys, which are given, in their order; reads ended keys by page, newest first.
 * @throws Refusal `invalid_request` if `after` is not a key of this account.
 */
export async function browseKeys(
  deps: Pick<Deps, 'keys' | 'clock'>,
  { whose, active }: { whose: KeyScope; active: readonly ShownKey[] },
  { state, name }: KeyListFilter,
  page: PageRequest,
): Promise<Page<ShownKey>> {
  await assertOwn(deps, whose, page)
  const now = deps.clock.now()
  if (state === 'expired' || state === 'revoked') {
    return deps.keys.listAll(whose, { ended: state, name }, page, now)
  }
  return { items: active.filter((shown) => fits(shown, { state, name }, now)), hasMore: false }
}

/**
 * The keys of an account in any state, newest first, by page.
 * @throws Refusal `invalid_request` if `after` is not a key of this account.
 */
export async function listKeys(
  deps: Pick<Deps, 'keys' | 'clock'>,
  whose: KeyScope,
  { state, name }: KeyListFilter,
  page: PageRequest,
): Promise<Page<ShownKey>> {
  await assertOwn(deps, whose, page)
  const now = deps.clock.now()
  if (state !== 'usable' && state !== 'paused') {
    return deps.keys.listAll(whose, { ended: state, name }, page, now)
  }
  const { after, limit } = page
  const rest = (await deps.keys.tree(whose, now))
    .filter((shown) => fits(shown, { state, name }, now))
    .filter(({ key }) => after === undefined || key.id < after)
    .sort((a, b) => (a.key.id < b.key.id ? 1 : -1))
  return toPage(rest, limit)
}

const fits = (
  { key, chain }: ShownKey,
  { state, name = '' }: KeyListFilter,
  now: Millis,
): boolean =>
  (state === undefined || statusOf(chain, now) === state) &&
  key.name.toLowerCase().includes(name.toLowerCase())

async function assertOwn(
  { keys }: Pick<Deps, 'keys'>,
  whose: KeyScope,
  { after }: PageRequest,
): Promise<void> {
  if (after === undefined) return
  const key = isId('key', after) ? await keys.find(after) : undefined
  if (key && isKeyOf(key, whose)) return
  const message = '"after" must be the id of an item of this list.'
  refuse('invalid_request', { param: 'after', message })
}
