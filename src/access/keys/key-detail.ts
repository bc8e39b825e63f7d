/** Reads a key with its chain, its spending by window and the keys below it. */
import type { Deps } from '../../app/deps-port.ts'
import type { Millis } from '../../kernel/clock.ts'
import { isId } from '../../kernel/ids.ts'
import type { Page, PageRequest } from '../../kernel/pagination.ts'
import { refuseField } from '../../kernel/refusal.ts'
import { type CapWindow, windowStart } from '../../ledger/window.ts'
import type { AccountRow, KeyRow, WindowRow } from '../../storage/db/schema/schema.ts'
import { type BrakeProposal, readBrakeProposal } from './brake-proposal.ts'
import type { StoppedItem } from './keys.ts'
import type { ShownKey } from './shown-key.ts'

/** One key as its owner sees it. */
export type KeyDetail = {
  now: Millis
  account: AccountRow
  shown: ShownKey
  /** The present windows of its chain. */
  windows: readonly WindowRow[]
  /** Its last windows, the newest first; an unused window has no row. */
  history: readonly { start: Millis; window: WindowRow | undefined }[]
  below: Page<ShownKey>
  /** Whether `below` is the first page. */
  isFirst: boolean
  /** For the form; undefined for a key that spent nothing in the last week. */
  brake: BrakeProposal | undefined
  /** Keys and webhooks that a leak of it stopped, and that still are. */
  leftPaused: readonly StoppedItem[]
}

/** How many past windows are shown. */
const historySizes: Readonly<Record<CapWindow, number>> = {
  lifetime: 0,
  day: 30,
  week: 12,
  month: 12,
}

/** @throws Refusal `invalid_request` if `after` is not a key below it */
export async function readDetail(
  { keys, accounts, clock }: Pick<Deps, 'keys' | 'accounts' | 'clock'>,
  { id, accountId, capWindow }: KeyRow,
  page: PageRequest,
): Promise<KeyDetail> {
  await assertBelow({ keys }, id, page)
  const now = clock.now()
  const starts = startsBefore(capWindow, now)
  const [account, shown] = await Promise.all([accounts.find(accountId), keys.show(id, now)])
  if (!account) throw new Error('a key without an account')
  const { chain, key } = shown
  const [windows, own, below, brake, leftPaused] = await Promise.all([
    keys.windows(chain.map((one) => ({ keyId: one.id, start: windowStart(one.capWindow, now) }))),
    starts.length === 0 ? [] : keys.windows(starts.map((start) => ({ keyId: id, start }))),
    // One more, because the key itself is listed too.
    keys.listBelow(key, { ...page, limit: page.limit + 1 }, now),
    readBrakeProposal({ keys }, key, now),
    keys.leftPaused(key),
  ])
  const history = starts.map((start) => ({
    start,
    window: own.find((row) => row.windowStart === start),
  }))
  const others = below.items.filter((one) => one.key.id !== id)
  const items = others.slice(0, page.limit)
  const hasMore = below.hasMore || others.length > page.limit
  const isFirst = page.after === undefined
  const listed = { below: { items, hasMore }, isFirst }
  return { now, account, shown, windows, history, ...listed, brake, leftPaused }
}

async function assertBelow(
  { keys }: Pick<Deps, 'keys'>,
  id: string,
  { after }: PageRequest,
): Promise<void> {
  if (after === undefined) return
  const key = isId('key', after) ? await keys.find(after) : undefined
  if (key?.lineage.includes(id)) return
  refuseField('after', '"after" must be the id of an item of this list.')
}

/** When the current window and those before it began, the newest first. */
function startsBefore(window: CapWindow, now: Millis): Millis[] {
  const starts: Millis[] = []
  let at = now
  for (let i = 0; i < historySizes[window]; i++) {
    const start = windowStart(window, at)
    starts.push(start)
    at = start - 1
  }
  return starts
}
