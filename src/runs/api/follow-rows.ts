/** Follows a list of an account: rows that came, and rows that changed. */
import type { Deps } from '../../app/deps-port.ts'
import { isId } from '../../kernel/ids.ts'
import type { SessionRow } from '../../storage/db/schema/schema.ts'
import { readText } from '../../web/http/query.ts'
import type { SseContext } from '../../web/http/sse.ts'
import { followAccount, type PartState } from './live.ts'

/** How a list reads and draws its rows. */
export type Rows<Row> = {
  /** The ids of rows newer than one, newest first. */
  newer(since: string): Promise<string[]>
  read(ids: readonly string[]): Promise<Row[]>
  idOf(row: Row): string
  /** Changes whenever the row has to be drawn again. */
  markOf(row: Row): string
  /** Whether the row can never change again. */
  isSettled(row: Row): boolean
  draw(row: Row): string
}

/** The account of the list, and the session that follows it. */
export type Follower = { session: SessionRow; account: string }

/** The rows that the page shows: its newest one, and those that may change. */
export type ShownRange = { since: string; open: readonly string[] }

/** Reads it from the address of the stream. */
export function shownIn(query: URLSearchParams, kind: 'run' | 'rcpt'): ShownRange {
  const open = (readText(query, 'open') ?? '').split(',').filter((id) => isId(kind, id))
  return { since: readText(query, 'since') ?? '', open }
}

/** More new rows than these are counted alone, and the page loads its list in place. */
const drawnMax = 50
/** The most new rows that one look counts. */
export const newsMax = 500

/** The most rows that one list keeps an eye on. */
const openMax = 100

/**
 * Each message has what is new since the one before. A client that comes back names what its page
 * showed at first, and leaves out what it has.
 */
export function followRows<Row>(
  deps: Deps,
  context: SseContext,
  { session, account }: Follower,
  rows: Rows<Row>,
  shown: ShownRange,
): Response {
  const marks = new Map<string, string>()
  let { since } = shown
  let open = shown.open.slice(0, openMax)
  // A client that comes back must not take another stream's count for this one's.
  const name = deps.clock.now()
  let count = 0
  const look = async (): Promise<PartState> => {
    const fresh = (await rows.newer(since)).filter((id) => !open.includes(id))
    const isCut = fresh.length > drawnMax
    const read = await rows.read([...(isCut ? [] : fresh), ...open].slice(0, openMax))
    const moved = read.filter((row) => marks.get(rows.idOf(row)) !== rows.markOf(row))
    for (const row of moved) marks.set(rows.idOf(row), rows.markOf(row))
    const isFresh = (row: Row) => fresh.includes(rows.idOf(row))
    const came = read.filter(isFresh).sort((a, b) => (rows.idOf(a) < rows.idOf(b) ? 1 : -1))
    const changed = moved.filter((row) => !isFresh(row))
    since = fresh[0] ?? since
    open = read.filter((row) => !rows.isSettled(row)).map(rows.idOf)
    // A page can stay open for days: what is settled is not read again.
    for (const id of marks.keys()) if (!open.includes(id)) marks.delete(id)
    if (moved.length > 0 || isCut) count++
    const message = {
      rows: came.map(rows.draw),
      ...(isCut && { skipped: fresh.length }),
      changed: Object.fromEntries(changed.map((row) => [rows.idOf(row), rows.draw(row)])),
    }
    return { mark: count === 0 ? '0' : `${name}.${count}`, html: () => JSON.stringify(message) }
  }
  return followAccount(deps, { context, session, account, mark: '0', look })
}
