/** The reference as pages: /docs and one page for each area. */
import { Elysia } from 'elysia'
import { currentSession, readerAccount } from '../../access/accounts/needs-session.ts'
import type { Deps } from '../../app/deps-port.ts'
import { may } from '../../kernel/acting.ts'
import { refuse } from '../../kernel/refusal.ts'
import { queryOf, readText } from '../../web/http/query.ts'
import type { Area } from '../../web/reference/operation.ts'
import type { Frame } from '../../web/ui/frame.ts'
import type { Markup } from '../../web/ui/jsx-runtime.ts'
import { publicPage } from '../../web/ui/layout.tsx'
import { Pad, PageHead, Panel } from '../../web/ui/panel.tsx'
import { reply } from '../../web/ui/reply.ts'
import { answerText } from './answer-text.ts'
import { areas } from './areas.ts'
import { findInReference } from './find.ts'
import { guidePath, guides } from './guides.ts'
import { areaMarkdown, frontMarkdown } from './markdown.ts'
import { DocsAside, Hits, QuickHits, searchPath } from './pages/aside.tsx'
import { OverviewPage } from './pages/contents.tsx'
import { GuideList, GuidePage, type ReaderKey } from './pages/guides.tsx'
import { OperationPanel } from './pages/operation.tsx'
import { Prose, SchemaSection } from './pages/parts.tsx'

/** `/docs`: the reference for people, of the same entries as `/openapi.json`. A page an area. */
export const docsPages = (deps: Deps, frame: Frame) => {
  const show = async (
    request: Request,
    path: string,
    { title, about, main, asked, isGuide }: ReferencePage,
  ) =>
    publicPage({
      frame,
      title,
      description: about,
      here: '/docs',
      // A search is not listed, and has no Markdown.
      ...(asked === undefined ? {} : { isUnlisted: true }),
      ...(asked === undefined && !isGuide && { markdown: `${path}.md` }),
      main: (
        <div class="docs">
          <DocsAside here={path} {...(asked === undefined ? {} : { asked })} />
          <div class="stack wide">{main}</div>
        </div>
      ),
      ...(await readerAccount(deps, request)),
    })
  return new Elysia({ name: 'docs-pages' })
    .get('/docs', async ({ request, set }) => {
      const { baseUrl } = deps.settings
      const about = 'The API: how to run a model, check a budget and verify a receipt.'
      const main = (
        <>
          <PageHead title="Guides and API reference" />
          <GuideList />
          <OverviewPage baseUrl={baseUrl} />
        </>
      )
      const shown = { title: 'API reference', about, main }
      return reply({ request, set }, { page: await show(request, '/docs', shown) })
    })
    .get('/docs.md', ({ request, set }) =>
      answerText({ request, set }, frontMarkdown(deps.settings.baseUrl), markdownType),
    )
    .get(searchPath, async ({ request, set }) => {
      const asked = readText(queryOf(request), 'q') ?? ''
      const title = 'Search the reference'
      const shown = { title, about: title, main: <SearchPage asked={asked} />, asked }
      const page = await show(request, searchPath, shown)
      return reply({ request, set }, { page, fragment: <QuickHits asked={asked} /> })
    })
    .get('/docs/guides/:id', async ({ params, request, set }) => {
      const { baseUrl } = deps.settings
      const guide = guides.find(({ id }) => id === params.id) ?? refuse('not_found', noSuchGuide)
      const own = await readerKey(deps, request)
      const main = <GuidePage guide={guide} baseUrl={baseUrl} own={own} />
      const shown = { title: guide.title, about: guide.about, main, isGuide: true }
      return reply({ request, set }, { page: await show(request, guidePath(guide.id), shown) })
    })
    .get('/docs/:area', async ({ params, request, set }) => {
      const { baseUrl } = deps.settings
      const [, id, isMarkdown] = /^(.*?)(\.md)?$/s.exec(params.area) ?? []
      const area = areas.find((one) => one.id === id) ?? refuse('not_found', noSuchPage)
      if (isMarkdown) {
        return answerText({ request, set }, areaMarkdown(area, baseUrl), markdownType)
      }
      const main = <AreaPage area={area} baseUrl={baseUrl} />
      const { title, about } = area
      const path = `/docs/${area.id}`
      return reply({ request, set }, { page: await show(request, path, { title, about, main }) })
    })
}

type ReferencePage = {
  title: string
  about: string
  main: Markup
  asked?: string
  /** It has no Markdown of its own. */
  isGuide?: boolean
}

/** The newest key of the person who reads; undefined without a session or a key. */
async function readerKey(deps: Deps, request: Request): Promise<ReaderKey | undefined> {
  const found = await currentSession(deps, request)
  if (found?.status !== 'active' || !may(found.acting, 'keys:read')) return undefined
  const [newest] = await deps.runs.keysToChoose(found.acting, 1)
  return newest && deps.keys.find(newest.id)
}

const noSuchGuide = `There is no such guide. There are ${guides.map(({ id }) => id).join(', ')}.`

const markdownType = 'text/markdown; charset=utf-8'

const noSuchPage = `There is no such page. There are ${areas.map(({ id }) => id).join(', ')}.`

/** Everything that was found; what was asked stands in the field beside it. */
function SearchPage({ asked }: { asked: string }) {
  const hits = findInReference(asked)
  return (
    <>
      <PageHead title="Search the reference" />
      {hits.length > 0 ? (
        <Panel id="found" title={hits.length === 1 ? '1 place' : `${hits.length} places`}>
          <Pad>
            <Hits of={hits} asked={asked} isWhole />
          </Pad>
        </Panel>
      ) : (
        <p>
          {asked.trim() === ''
            ? 'Type a part of a route, a field or an error: '
            : 'Nothing has all of these words. Try one that is part of a route, field or error: '}
          <a href={`${searchPath}?q=idempotency`}>idempotency</a>,{' '}
          <a href={`${searchPath}?q=%2Fv1%2Fkeys`}>/v1/keys</a>,{' '}
          <a href={`${searchPath}?q=cost_nusd`}>cost_nusd</a>.
        </p>
      )}
    </>
  )
}

const AreaPage = ({ area, baseUrl }: { area: Area; baseUrl: string }) => (
  <>
    <PageHead title={area.title} />
    <p>
      <Prose>{area.about}</Prose>
    </p>
    {area.operations.map((operation) => (
      <OperationPanel operation={operation} baseUrl={baseUrl} />
    ))}
    <Panel id="schemas" title="Schemas">
      <Pad>
        {Object.entries(area.schemas).map(([name, schema]) => (
          <SchemaSection name={name} schema={schema} />
        ))}
      </Pad>
    </Panel>
  </>
)
