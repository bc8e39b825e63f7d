/** Writes every run of a range as a file. */
import type { Deps } from '../../app/deps-port.ts'
import type { Millis } from '../../kernel/clock.ts'
import { refuseField } from '../../kernel/refusal.ts'
import type { ExportManifest } from '../../verify/manifest.ts'
import { type ExportedKey, exportFormats, type FormatName } from './formats.ts'
import { isIn, type Period, type Span, spansOf, walk } from './log-range.ts'
import type { ExportTally } from './manifest.ts'
import { mineOnly } from './sum.ts'
import type { UsageOwner } from './usage.ts'
import { dayMs, dayOf } from './usage.ts'

export type ExportRequest = UsageOwner &
  Period & {
    format: FormatName
    /** Leave out what was logged from this place on; undefined for all there is. */
    asOf?: number | undefined
  }

export type UsageExport = {
  /** Ask again with this, and the same bytes come. */
  asOf: number
  fileName: string
  contentType: string
  /**
   * Starts to read; the text in pieces, in the order of the log. Abort `signal` in the end,
   * whatever the end is: it frees the place among the exports.
   * @throws Refusal 'concurrency_limited'
   */
  open(signal: AbortSignal): AsyncIterable<string>
}

type Needs = Pick<Deps, 'usage' | 'keys' | 'exportSlots'>

/** Counts an export; `isApart`: its manifest is not to be its last line. */
type ExportCount = { tally: ExportTally; isApart?: boolean }

/** Places of one read, which nothing else of this process runs beside: some milliseconds. */
const stepMax = 200

/**
 * An export of what was used: every receipt of a period, one after the other. What it says never
 * changes once logged, but for the name of a key, which is its name of today.
 * Where it is `counted`, JSON lines end with the manifest.
 * @throws Refusal 'invalid_request' for an `asOf` beyond the log.
 */
export async function exportUsage(
  deps: Needs,
  wish: ExportRequest,
  counted?: ExportCount,
): Promise<UsageExport> {
  const { size } = await deps.usage.counted()
  const asOf = wish.asOf ?? size
  if (asOf > size) {
    refuseField('as_of', `The log has ${size} leaves. Ask for "as_of" up to that.`)
  }
  const format = exportFormats[wish.format]
  return {
    asOf,
    fileName: fileNameOf(wish, asOf),
    contentType: format.contentType,
    open(signal) {
      const release = deps.exportSlots.take(wish.account)
      signal.addEventListener('abort', release)
      if (signal.aborted) release()
      return write(deps, { ...wish, asOf }, signal, counted)
    },
  }
}

async function* write(
  deps: Needs,
  wish: ExportRequest & { asOf: number },
  signal: AbortSignal,
  { tally, isApart = false }: Partial<ExportCount> = {},
): AsyncGenerator<string> {
  const format = exportFormats[wish.format]
  for await (const text of writeRows(deps, wish, signal, tally)) {
    tally?.bytes(text)
    yield text
  }
  if (!tally || isApart || !format.hasManifest || signal.aborted) return
  yield `${JSON.stringify(await tally.end(wish.asOf))}\n`
}

async function* writeRows(
  deps: Needs,
  wish: ExportRequest & { asOf: number },
  signal: AbortSignal,
  tally: ExportTally | undefined,
): AsyncGenerator<string> {
  const format = exportFormats[wish.format]
  const isMine = mineOnly(wish)
  const keys = new Map<string, ExportedKey>()
  if (format.header !== '') yield format.header
  for await (const step of walk(await spansToRead(deps, wish), stepMax)) {
    if (signal.aborted) return
    const found = await deps.usage.exportedIn(step, wish)
    const runs = found.filter((run) => isMine(run) && isIn(wish, run.finishedAt))
    let text = ''
    for (const run of runs) {
      const key = keys.get(run.keyId) ?? (await nameKey(deps, run.keyId))
      keys.set(run.keyId, key)
      text += format.linesOf(run, key)
      tally?.run(format.rowsOf(run), run.cost)
    }
    if (text !== '') yield text
  }
}

async function nameKey({ keys }: Needs, id: string): Promise<ExportedKey> {
  const key = await keys.find(id)
  return { name: key?.name ?? '', parentId: key?.parentId ?? null }
}

/** Where in the log the receipts of the period can be, without days that have none of theirs. */
async function spansToRead(
  { usage }: Needs,
  wish: ExportRequest & { asOf: number },
): Promise<Span[]> {
  const { cursor } = await usage.counted()
  const touched = { from: dayOf(wish.from), to: Math.ceil(wish.to / dayMs) * dayMs }
  const days = await usage.daysOf(wish, touched)
  return spansOf(days, await usage.marks(), { cursor, size: wish.asOf })
}

/** `counterfoil-usage-2026-11-01-to-2026-11-30-as-of-1234.csv`. */
function fileNameOf({ format, from, to }: ExportRequest, asOf: number): string {
  const first = from > 0 ? `-from-${dateOf(from)}` : ''
  const last = Number.isFinite(to) ? `-to-${dateOf(to - 1)}` : ''
  const what = format === 'focus' ? 'focus-1.2' : 'usage'
  return `counterfoil-${what}${first}${last}-as-of-${asOf}.${exportFormats[format].extension}`
}

const dateOf = (at: Millis): string => new Date(at).toISOString().slice(0, 10)

/**
 * The manifest of an export, whose bytes are made and counted, and not sent.
 * @throws Refusal 'invalid_request', 'concurrency_limited'; AbortError for a client that left
 */
export async function manifestOf(
  deps: Needs,
  wish: ExportRequest,
  tally: ExportTally,
  client: AbortSignal,
): Promise<ExportManifest> {
  const file = await exportUsage(deps, wish, { tally, isApart: true })
  const done = new AbortController()
  try {
    for await (const _ of file.open(AbortSignal.any([client, done.signal])));
    client.throwIfAborted()
    return await tally.end(file.asOf)
  } finally {
    done.abort()
  }
}
