/** Reads the explorer's anchors and its list of receipts. */
import type { Deps } from '../../app/deps-port.ts'
import type { Millis } from '../../kernel/clock.ts'
import type { Page } from '../../kernel/pagination.ts'
import { readStages, type Stage } from '../../proof/receipts/shown-receipt.ts'
import type { AnchorRow, CheckpointRow } from '../../storage/db/schema.ts'
import type { PublicDeps } from './public-cache.ts'
import type { SeenReceipt } from './recent.ts'

/** Most anchors shown side by side. */
const tapeMax = 24

/** The newest anchors, and the leaves that wait for the next. */
export type AnchorTape = {
  /** Oldest first. */
  anchors: readonly AnchorRow[]
  /** Leaves without an anchor. */
  waiting: number
  /** Deadline of the next anchor; undefined if nothing waits. */
  dueAt: Millis | undefined
  isOn: boolean
  policy: { minReceipts: number; maxDelayMs: number }
}

/** A page of receipts, with the stage of each. */
export type SeenPage = Page<SeenReceipt> & { stageOf: (seen: SeenReceipt) => Stage }

export async function readTape(
  deps: Pick<Deps, 'anchors' | 'anchoring' | 'checkpoints' | 'logs' | 'logStore'>,
): Promise<AnchorTape> {
  const { anchors, anchoring, checkpoints, logs, logStore } = deps
  const { origin } = logs.current
  const { items } = (await anchors.list(origin, { limit: tapeMax, after: undefined })) ?? none
  const shown = items.filter(({ status }) => status !== 'failed' && status !== 'superseded')
  const anchored = (await anchors.newest(origin))?.size ?? 0
  const waiting = Math.max(0, (await logStore.size()) - anchored)
  const isOn = await anchoring.isOn()
  const oldest: CheckpointRow | undefined =
    isOn && waiting > 0 ? await checkpoints.firstOver(origin, anchored) : undefined
  const { policy } = anchoring
  const dueAt = oldest && oldest.timestamp + policy.maxDelayMs
  return { anchors: shown.reverse(), waiting, dueAt, isOn, policy }
}

const none = { items: [] }

/** Receipts before a log place, newest first. */
export async function readSeen(
  deps: Pick<PublicDeps, 'anchors' | 'publicCache'>,
  { before, limit }: { before: number; limit: number },
): Promise<SeenPage> {
  const page = await deps.publicCache.recent(before, limit)
  const stageOf = await readStages(
    deps,
    page.items.map(({ log }) => log),
  )
  return { ...page, stageOf: ({ log, index }) => stageOf(log, index) }
}
