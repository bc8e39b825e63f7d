/** Reads the log backwards as the public may see it. */
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
 * A receipt as the public sees it. One that is not public shows its index, minute, model and
 * outcome, and nothing that could identify its account.
 */
export type SeenReceipt = {
  /** Its position among the leaves of all logs, the cursor of lists. */
  place: number
  index: number
  /** The origin of its log. */
  log: string
  minute: Millis
  /** Null if its owner shares the receipt without its run section. */
  model: string | null
  outcome: string | null
  /** Undefined for private and unlisted receipts. */
  shown: ReceiptFile | undefined
}

export type RecentReads = {
  /** Receipts before a log place, newest first. */
  recent(before: number, limit: number): Promise<Page<SeenReceipt>>
  /** Public receipts with an id below one, newest first. */
  published(before: string, limit: number): Promise<Page<SeenReceipt>>
}

const minuteMs = 60_000
/** Cached public receipts; each takes a few KB. */
const shownMax = 2000

/**
 * Rows before a place never change their order, so pages neither skip nor repeat receipts while new
 * ones arrive. Revealed texts are left out: they can be large, and the receipt itself shows them.
 */
export function makeRecent(deps: Deps): RecentReads {
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

  const seenIn = async ({ items, hasMore }: Page<LoggedReceipt>): Promise<Page<SeenReceipt>> => {
    const seen: SeenReceipt[] = []
    for (const one of items) seen.push(toSeen(deps, one, await show(one)))
    return { items: seen, hasMore }
  }

  return {
    recent: async (before, limit) => seenIn(await deps.explorer.recent(before, limit)),
    published: async (before, limit) => seenIn(await deps.explorer.published(before, limit)),
  }
}

function toSeen(
  { logs }: Pick<Deps, 'logs'>,
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

export type SeenView = ReturnType<typeof toSeenView>

/** As `GET /v1/explorer/recent` lists it. */
export const toSeenView = (seen: SeenReceipt, { baseUrl }: { baseUrl: string }) => {
  const { index, minute, model, outcome, shown } = seen
  const row = { index, minute: toRfc3339(minute), model, outcome }
  if (!shown) return { object: 'receipt' as const, visibility: 'private' as const, ...row }
  const { id } = shown.receipt
  const url = `${baseUrl}/receipts/${id}`
  return { id, object: 'receipt' as const, visibility: 'public' as const, ...row, url, ...shown }
}
