/**
 * `GET /explorer`: figures, anchors and receipts of the service, live, and a search for public
 * things.
 */
import { Elysia } from 'elysia'
import { readerAccount } from '../../access/accounts/needs-session.ts'
import { sha256Hex } from '../../kernel/hash.ts'
import { queryOf, readChoice, readInteger, readText } from '../../web/http/query.ts'
import { Search } from '../../web/ui/filters.tsx'
import type { Frame } from '../../web/ui/frame.ts'
import { renderChild } from '../../web/ui/jsx-runtime.ts'
import { publicPage } from '../../web/ui/layout.tsx'
import { PageHead, Split } from '../../web/ui/panel.tsx'
import { reply } from '../../web/ui/reply.ts'
import { followers, type Scene } from './api/followers.ts'
import { type Found, findPublic } from './find.ts'
import { type AnchorTape, readSeen, readTape } from './overview.ts'
import { AnchorsPanel, RunsChart, StatFigures, TopModels, Windows } from './pages/figures.tsx'
import { FoundPanel } from './pages/find.tsx'
import { explorerPath, type ListView, RecentPanel, rowsMax, rowsOf } from './pages/list.tsx'
import type { PublicDeps } from './public-cache.ts'
import { type Stats, type Window, windows } from './stats.ts'

type ExplorerView = {
  now: number
  window: Window
  stats: Stats
  tape: AnchorTape
  list: ListView
  /** The search text and its results. */
  search: { asked: string; found: readonly Found[] } | undefined
}

export const explorerPages = (deps: PublicDeps, frame: Frame) => {
  const byWindow = new Map(
    windows.map((window) => [window, followers(deps, () => lookAt(deps, window))]),
  )
  return new Elysia({ name: 'explorer-pages' })
    .get(explorerPath, async ({ request, set }) => {
      const query = queryOf(request)
      const asked = readText(query, 'q')?.trim() ?? ''
      const found = asked === '' ? [] : await findPublic(deps, asked)
      const only = found.length === 1 ? pathOf(found[0]) : undefined
      if (only !== undefined) {
        set.status = 303
        set.headers['location'] = only
        return ''
      }
      const window = readChoice(query, 'window', windows) ?? '24h'
      const after = readInteger(query, 'after', { min: 0, max: Number.MAX_SAFE_INTEGER })
      const search = asked === '' ? undefined : { asked, found }
      const view = { ...(await readView(deps, window, after)), search }
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
      const window = readChoice(query, 'window', windows) ?? '24h'
      const after = readText(query, 'after')
      const seen = /^\d{1,15}$/.test(after ?? '') ? Number(after) : -1
      return byWindow.get(window)?.follow({ request, set, server }, seen)
    })
}

async function readView(deps: PublicDeps, window: Window, after: number | undefined) {
  const now = deps.clock.now()
  const before = after ?? Number.MAX_SAFE_INTEGER
  const seen = await readSeen(deps, { before, limit: rowsMax })
  const hash = sha256Hex(deps.settings.issuer)
  const list: ListView = { now, window, seen, isFirst: after === undefined, hash }
  const stats = await deps.publicCache.stats(window)
  return { now, window, stats, tape: await readTape(deps), list }
}

/** The current state of open pages. */
async function lookAt(deps: PublicDeps, window: Window): Promise<Scene> {
  const { now, stats, tape, list } = await readView(deps, window, undefined)
  const { items } = list.seen
  return {
    rows: items.map((seen) => ({ place: seen.place, html: rowsOf(list, [seen]) })),
    parts: {
      'live-figures': renderChild(<StatFigures stats={stats} />),
      'live-anchors': renderChild(<AnchorsPanel tape={tape} now={now} />),
    },
  }
}

const ExplorerPage = ({ view }: { view: ExplorerView }) => (
  <>
    <PageHead title="Explorer">
      <Search
        action={explorerPath}
        name="q"
        label="Find anything public"
        placeholder="Receipt, anchor, @handle or 0x hash"
        value={view.search?.asked ?? ''}
      />
    </PageHead>
    {view.search ? <FoundPanel {...view.search} /> : null}
    <Windows here={view.window} />
    <div id="live-figures">
      <StatFigures stats={view.stats} />
    </div>
    <div id="live-anchors">
      <AnchorsPanel tape={view.tape} now={view.now} />
    </div>
    <RecentPanel view={view.list} />
    <Split>
      <RunsChart stats={view.stats} />
      <TopModels stats={view.stats} />
    </Split>
  </>
)

/** The page of a search result, if it has one. */
function pathOf(found: Found | undefined): string | undefined {
  if (found?.is === 'receipt') return `/receipts/${found.id}`
  return found?.is === 'passport' ? `/passports/${found.handle}` : undefined
}
