/**
 * `GET /explorer`: figures, anchors and receipts of the service, live, and a search for public
 * things.
 */
import { Elysia } from 'elysia'
import { readerAccount } from '../../access/accounts/needs-session.ts'
import { sha256Hex } from '../../kernel/hash.ts'
import { isId } from '../../kernel/ids.ts'
import { refuse } from '../../kernel/refusal.ts'
import { queryOf, readChoice, readInteger, readText } from '../../web/http/query.ts'
import { Search } from '../../web/ui/filters.tsx'
import type { Frame } from '../../web/ui/frame.ts'
import { renderChild } from '../../web/ui/jsx-runtime.ts'
import { publicPage } from '../../web/ui/layout.tsx'
import { PageHead, Split } from '../../web/ui/panel.tsx'
import { reply, sendOn } from '../../web/ui/reply.ts'
import { followers, type Scene } from './api/followers.ts'
import { findPublic, type SearchResult } from './find.ts'
import { type AnchorTape, readHeads, readPublic, readSeen, readTape } from './overview.ts'
import { AnchorsPanel, RunsChart, StatFigures, TopModels, Windows } from './pages/figures.tsx'
import { FoundPanel } from './pages/find.tsx'
import { type ListView, RecentPanel, rowOf, rowsMax } from './pages/list.tsx'
import { explorerPath, hrefOf, type Place } from './pages/place.ts'
import {
  NewestSlips,
  PublicPanel,
  PublicSlips,
  type SlipsView,
  slipsBeside,
  slipsMax,
} from './pages/slips.tsx'
import type { PublicDeps } from './public-cache.ts'
import { type Stats, windows } from './stats.ts'

type ExplorerView = {
  now: number
  place: Place
  stats: Stats
  tape: AnchorTape
  /** The log, or public receipts alone. */
  list: ListView | undefined
  slips: SlipsView | undefined
  /** The search text and its results. */
  search: { asked: string; found: readonly SearchResult[] } | undefined
}

const places = windows.flatMap((window) =>
  [false, true].map((isPublicOnly): Place => ({ window, isPublicOnly })),
)

export const explorerPages = (deps: PublicDeps, frame: Frame) => {
  const byPlace = new Map(
    places.map((place) => [hrefOf(place), followers(deps, () => lookAt(deps, place))]),
  )
  return new Elysia({ name: 'explorer-pages' })
    .get(explorerPath, async ({ request, set }) => {
      const query = queryOf(request)
      const asked = readText(query, 'q')?.trim() ?? ''
      const found = asked === '' ? [] : await findPublic(deps, asked)
      const only = found.length === 1 ? pathOf(found[0]) : undefined
      if (only !== undefined) return sendOn({ set }, only)
      const place = readPlace(query)
      const after = readAfter(query, place)
      const search = asked === '' ? undefined : { asked, found }
      const view = { ...(await readView(deps, place, after)), search }
      const page = publicPage({
        frame,
        title: 'Explorer',
        description:
          'Every receipt of this service as it arrives: volume, speed, and how much is anchored. ' +
          'Look up any receipt, anchor, hash, handle or address.',
        here: explorerPath,
        isUnlisted: search !== undefined || after !== undefined,
        main: <ExplorerPage view={view} />,
        scripts: after === undefined ? ['live-list'] : [],
        ...(await readerAccount(deps, request)),
      })
      return reply({ request, set }, { page })
    })
    .get(`${explorerPath}/stream`, ({ request, set, server }) => {
      const query = queryOf(request)
      const after = readText(query, 'after')
      const seen = /^\d{1,15}$/.test(after ?? '') ? Number(after) : -1
      return byPlace.get(hrefOf(readPlace(query)))?.follow({ request, set, server }, seen)
    })
}

function readPlace(query: URLSearchParams): Place {
  const window = readChoice(query, 'window', windows) ?? '24h'
  return { window, isPublicOnly: readChoice(query, 'public', ['1']) === '1' }
}

/** The cursor of a page: a place of the log, or the id of a public receipt. */
function readAfter(query: URLSearchParams, { isPublicOnly }: Place): number | string | undefined {
  if (!isPublicOnly) return readInteger(query, 'after', { min: 0, max: Number.MAX_SAFE_INTEGER })
  const id = readText(query, 'after')
  if (id === undefined || isId('rcpt', id)) return id
  refuse('invalid_request', { message: '"after" must be the id of a receipt.', param: 'after' })
}

async function readView(deps: PublicDeps, place: Place, after: number | string | undefined) {
  const now = deps.clock.now()
  const hash = sha256Hex(deps.settings.issuer)
  const shared = { now, place, isFirst: after === undefined, hash, heads: await readHeads(deps) }
  const stats = await deps.publicCache.stats(place.window)
  const list: ListView | undefined = place.isPublicOnly
    ? undefined
    : { ...shared, seen: await readSeen(deps, Number(after ?? Number.MAX_SAFE_INTEGER)) }
  const slips = await readSlips(deps, shared, place.isPublicOnly ? after : undefined)
  return { now, place, stats, tape: await readTape(deps), list, slips }
}

/** Above the log only on its newest page. */
async function readSlips(
  deps: PublicDeps,
  shared: Omit<SlipsView, 'page'>,
  after: number | string | undefined,
): Promise<SlipsView | undefined> {
  const { isPublicOnly } = shared.place
  if (!isPublicOnly && !shared.isFirst) return undefined
  const limit = isPublicOnly ? slipsMax : slipsBeside
  // Behind every id.
  return { ...shared, page: await readPublic(deps, { before: String(after ?? 'rcpt_z'), limit }) }
}

/** The current state of open pages. */
async function lookAt(deps: PublicDeps, place: Place): Promise<Scene> {
  const { now, stats, tape, slips, list } = await readView(deps, place, undefined)
  const figures = renderChild(<StatFigures stats={stats} />)
  const anchors = renderChild(<AnchorsPanel tape={tape} now={now} />)
  return {
    rows: list ? freshRows(list) : [],
    parts: {
      'live-figures': { mark: figures, draw: () => figures },
      'live-anchors': { mark: anchors, draw: () => anchors },
      ...(slips && { 'live-slips': slipsPart(slips) }),
    },
    heads: (list ?? slips)?.heads ?? { anchored: 0, final: 0 },
  }
}

/** The newest receipts, one by one. */
function freshRows(list: ListView): Scene['rows'] {
  const seen = list.seen.items.flatMap((line) => (line.is === 'public' ? [line.seen] : line.runs))
  return seen.slice(0, rowsMax).map((one) => ({ place: one.place, draw: () => rowOf(list, one) }))
}

/** Drawn again when another receipt is published or one is taken back, not as time goes by. */
const slipsPart = (view: SlipsView) => ({
  mark: JSON.stringify(view.page.items.map(({ shown }) => [shown?.receipt])),
  draw: () =>
    renderChild(
      view.place.isPublicOnly ? <PublicSlips view={view} /> : <NewestSlips view={view} />,
    ),
})

const ExplorerPage = ({ view }: { view: ExplorerView }) => (
  <>
    <PageHead title="Explorer">
      <Search
        action={explorerPath}
        name="q"
        label="Find anything public"
        placeholder="Receipt, anchor, @handle or 0x hash, or its beginning"
        value={view.search?.asked ?? ''}
      />
    </PageHead>
    {view.search ? <FoundPanel {...view.search} /> : null}
    <Windows here={view.place} />
    <div id="live-figures">
      <StatFigures stats={view.stats} />
    </div>
    <div id="live-anchors">
      <AnchorsPanel tape={view.tape} now={view.now} />
    </div>
    {view.slips && view.list ? (
      <div id="live-slips">
        <NewestSlips view={view.slips} />
      </div>
    ) : null}
    {view.list ? <RecentPanel view={view.list} /> : null}
    {view.slips && !view.list ? <PublicPanel view={view.slips} /> : null}
    <Split>
      <RunsChart stats={view.stats} />
      <TopModels stats={view.stats} />
    </Split>
  </>
)

/** The page of a search result, if it has one. */
function pathOf(found: SearchResult | undefined): string | undefined {
  if (found?.is === 'receipt') return `/receipts/${found.id}`
  return found?.is === 'passport' ? `/passports/${found.handle}` : undefined
}
