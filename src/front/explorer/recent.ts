import { LRUCache } from 'lru-cache'
import type { Deps } from '../../app/deps-port.ts'
import { type Millis, toRfc3339 } from '../../kernel/clock.ts'
import type { Page } from '../../kernel/pagination.ts'
import { logOf } from '../../proof/log/logs.ts'
import { receiptIdOf } from '../../proof/receipts/receipt.ts'
import { toSharedFile } from '../../proof/receipts/receipt-file.ts'
import { signed } from '../../proof/receipts/sign.ts'
import type { ReceiptFile } from '../../verify/receipt.ts'
import { isHidden } from '../../verify/receipt.ts'
import type { LoggedReceipt } from './store.ts'

/**
 * A receipt as everybody sees it. Of one that is not public there is its index, the minute that it
 * was issued in, its model and its outcome, and nothing that could tell whose it is.
 */
export type SeenReceipt = {
  /** Where it is among the leaves of all logs: what a list goes on from. */
  place: number
  index: number
  /** The origin of its log. */
  log: string
  minute: Millis
  /** Null where its owner shows the receipt without its run. */
  model: string | null
  outcome: string | null
  /** Undefined for one that is private, or shown only to whoever has the link. */
  shown: ReceiptFile | undefined
}

type Needs = Pick<Deps, 'explorer' | 'heads'> & Parameters<typeof signed>[0]

const minuteMs = 60_000
/** Public receipts that are remembered as they are shown; each a few KB. */
const shownMax = 2000

/**
 * Reads the log backwards, for everybody. Rows before a place never change their order, so pages
 * leave nothing out and show nothing twice while receipts come in. Texts that an owner reveals are
 * not in lists: they may be large, and stand in the receipt itself.
 */
export function makeRecent(
  deps: Needs,
): (before: number, limit: number) => Promise<Page<SeenReceipt>> {
  const remembered = new LRUCache<string, ReceiptFile>({ max: shownMax })
  deps.heads.onLost(() => remembered.clear())

  const show = async ({ run, share }: LoggedReceipt): Promise<ReceiptFile | undefined> => {
    if (!share) return undefined
    const id = receiptIdOf(run.id)
    const name = JSON.stringify([id, share.updatedAt, share.sections])
    const known = remembered.get(name)
    if (known) return known
    const file = toSharedFile(await signed(deps, id, run), { ...share, revealed: {} })
    remembered.set(name, file)
    return file
  }

  return async (before, limit) => {
    const { items, hasMore } = await deps.explorer.recent(before, limit)
    const seen: SeenReceipt[] = []
    for (const one of items) seen.push(toSeen(deps, one, await show(one)))
    return { items: seen, hasMore }
  }
}

function toSeen(
  { logs }: Pick<Needs, 'logs'>,
  { run }: LoggedReceipt,
  shown: ReceiptFile | undefined,
): SeenReceipt {
  const isRunSeen = !shown || !isHidden(shown.receipt.run)
  const { origin, start } = logOf(logs, run.issuer)
  return {
    place: run.logPlace,
    index: run.logPlace - start,
    log: origin,
    minute: run.finishedAt - (run.finishedAt % minuteMs),
    model: isRunSeen ? run.model : null,
    outcome: isRunSeen ? run.outcome : null,
    shown,
  }
}

/** As `GET /v1/explorer/recent` lists it. */
export const toSeenView = (seen: SeenReceipt, { baseUrl }: { baseUrl: string }) => {
  const { index, minute, model, outcome, shown } = seen
  const row = { index, minute: toRfc3339(minute), model, outcome }
  if (!shown) return { object: 'receipt' as const, visibility: 'private' as const, ...row }
  const { id } = shown.receipt
  const url = `${baseUrl}/receipts/${id}`
  return { id, object: 'receipt' as const, visibility: 'public' as const, ...row, url, ...shown }
}
