import type { Deps } from '../../app/deps-port.ts'
import type { Millis } from '../../kernel/clock.ts'
import type { Page } from '../../kernel/pagination.ts'
import { readStages, type Stage } from '../../proof/receipts/shown-receipt.ts'
import type { AnchorRow, CheckpointRow } from '../../storage/db/schema.ts'
import type { Explored } from './public-cache.ts'
import type { SeenReceipt } from './recent.ts'

/** The anchors that are shown side by side. */
const tapeMax = 24

/** What went to the chain, and what waits to go there. */
export type AnchorTape = {
  /** Oldest first. */
  anchors: readonly AnchorRow[]
  /** Leaves that no anchor covers. */
  waiting: number
  /** When the next anchor is due at the latest; undefined when none is. */
  dueAt: Millis | undefined
  isOn: boolean
  policy: { minReceipts: number; maxDelayMs: number }
}

/** Some receipts, and how far each has come. */
export type SeenPage = Page<SeenReceipt> & { stageOf: (seen: SeenReceipt) => Stage }

type Needs = Pick<Deps, 'anchors' | 'anchoring' | 'checkpoints' | 'logs' | 'logStore'>

export async function readTape(deps: Needs): Promise<AnchorTape> {
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

/** Receipts before a place of the log, newest first. */
export async function readSeen(
  deps: Pick<Deps, 'anchors'> & { explored: Explored },
  { before, limit }: { before: number; limit: number },
): Promise<SeenPage> {
  const page = await deps.explored.recent(before, limit)
  const stageOf = await readStages(
    deps,
    page.items.map(({ log }) => log),
  )
  return { ...page, stageOf: ({ log, index }) => stageOf(log, index) }
}
