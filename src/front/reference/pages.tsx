/** The reference as pages: /docs and one page for each area. */
import { Elysia } from 'elysia'
import { readerAccount } from '../../access/accounts/needs-session.ts'
import type { Deps } from '../../app/deps-port.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { Frame } from '../../web/ui/frame.ts'
import type { Markup } from '../../web/ui/jsx-runtime.ts'
import { publicPage } from '../../web/ui/layout.tsx'
import { Pad, PageHead, Panel } from '../../web/ui/panel.tsx'
import { reply } from '../../web/ui/reply.ts'
import { answerText } from './answer-text.ts'
import { areas } from './areas/areas.ts'
import { areaMarkdown, frontMarkdown } from './markdown.ts'
import type { Area } from './operation.ts'
import { OverviewPage } from './pages/contents.tsx'
import { OperationPanel } from './pages/operation.tsx'
import { Prose, SchemaSection } from './pages/parts.tsx'

/** `/docs`: the reference for people, of the same entries as `/openapi.json`. A page an area. */
export const docsPages = (deps: Deps, frame: Frame) => {
  const show = async (request: Request, path: string, { title, about, main }: Shown) =>
    publicPage({
      frame,
      title,
      description: about,
      here: '/docs',
      markdown: `${path}.md`,
      main: <div class="stack wide docs">{main}</div>,
      ...(await readerAccount(deps, request)),
    })
  return new Elysia({ name: 'docs-pages' })
    .get('/docs', async ({ request, set }) => {
      const { baseUrl } = deps.settings
      const about = 'The API: how to run a model, check a budget and verify a receipt.'
      const main = (
        <>
          <PageHead title="API reference" />
          <OverviewPage baseUrl={baseUrl} />
        </>
      )
      const shown = { title: 'API reference', about, main }
      return reply({ request, set }, { page: await show(request, '/docs', shown) })
    })
    .get('/docs.md', ({ request, set }) =>
      answerText({ request, set }, frontMarkdown(deps.settings.baseUrl), markdownType),
    )
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

type Shown = { title: string; about: string; main: Markup }

const markdownType = 'text/markdown; charset=utf-8'

const noSuchPage = `There is no such page. There are ${areas.map(({ id }) => id).join(', ')}.`

const schemasEntry = { id: 'schemas', title: 'Schemas' }

const AreaPage = ({ area, baseUrl }: { area: Area; baseUrl: string }) => (
  <>
    <PageHead title={area.title}>
      <a href="/docs">All routes</a>
    </PageHead>
    <p>
      <Prose>{area.about}</Prose>
    </p>
    <nav aria-label="On this page">
      <ul class="bare row">
        {[...area.operations, schemasEntry].map(({ id, title }) => (
          <li>
            <a href={`#${id}`}>{title}</a>
          </li>
        ))}
      </ul>
    </nav>
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
