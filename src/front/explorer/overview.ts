/** Reads the explorer's anchors and its list of receipts. */
import type { Deps } from '../../app/deps-port.ts'
import type { Millis } from '../../kernel/clock.ts'
import type { Page } from '../../kernel/pagination.ts'
import { readStages, type Stage } from '../../proof/receipts/shown-receipt.ts'
import type { AnchorRow, CheckpointRow } from '../../storage/db/schema/schema.ts'
import { foldPrivate, type Line } from './fold.ts'
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

/** How far each receipt of a page has come. */
type StageSource = { stageOf: (seen: SeenReceipt) => Stage }

/** Leaves of the current log that are anchored, and of these in final blocks. */
export type Heads = { log: string; anchored: number; final: number }

/** A page of the log in lines: public receipts, and private ones folded between them. */
export type SeenPage = Page<Line> & StageSource

/** A page of public receipts alone. */
export type PublicPage = Page<SeenReceipt> & StageSource

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

/** The most receipts and the most lines on a page of the log. */
const readMax = 100
export const linesMax = 20

type SeenDeps = Pick<PublicDeps, 'anchors' | 'logs' | 'publicCache'>

/** Receipts before a log place, newest first, private ones folded. */
export async function readSeen(deps: SeenDeps, before: number): Promise<SeenPage> {
  const { items, hasMore } = await deps.publicCache.recent(before, readMax)
  const lines = foldPrivate(items)
  const shown = lines.slice(0, linesMax)
  const stageOf = await stagesOf(deps, items)
  return { items: shown, hasMore: hasMore || shown.length < lines.length, stageOf }
}

/** Public receipts with an id below one, newest first. */
export async function readPublic(
  deps: SeenDeps,
  { before, limit }: { before: string; limit: number },
): Promise<PublicPage> {
  const page = await deps.publicCache.published(before, limit)
  return { ...page, stageOf: await stagesOf(deps, page.items) }
}

async function stagesOf(
  deps: SeenDeps,
  items: readonly SeenReceipt[],
): Promise<StageSource['stageOf']> {
  const stageOf = await readStages(
    deps,
    items.map(({ log }) => log),
  )
  return ({ log, index }) => stageOf(log, index)
}

/** How far the current log has come. */
export async function readHeads({ anchors, logs }: Pick<Deps, 'anchors' | 'logs'>): Promise<Heads> {
  const log = logs.current.origin
  const anchored = (await anchors.newest(log))?.size ?? 0
  const final = anchored === 0 ? 0 : ((await anchors.newestFinal(log))?.size ?? 0)
  return { log, anchored, final }
}
