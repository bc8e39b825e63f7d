/** The first page of the reference. */
import { refusals } from '../../../kernel/refusal.ts'
import { type Area, methodOf, pathOf } from '../../../web/reference/operation.ts'
import { CopyButton } from '../../../web/ui/button.tsx'
import { Code } from '../../../web/ui/copy-box.tsx'
import { Pad, Panel } from '../../../web/ui/panel.tsx'
import { type Column, Table } from '../../../web/ui/table.tsx'
import { firstSteps } from '../first-steps.ts'
import {
  clientText,
  environmentText,
  errorText,
  notes,
  onceText,
  rules,
  toolText,
} from '../texts.ts'
import { areasOf } from './aside.tsx'
import { Prose } from './parts.tsx'

type Props = { baseUrl: string }

/** The front of the reference: how to begin, what holds everywhere, and where everything is. */
export const OverviewPage = ({ baseUrl }: Props) => (
  <>
    <Begin baseUrl={baseUrl} />
    <Everywhere />
    <Clients baseUrl={baseUrl} />
    <Tools baseUrl={baseUrl} />
    <Errors />
    <AllRoutes />
  </>
)

const Begin = ({ baseUrl }: Props) => (
  <Panel id="begin" title="Begin">
    <Pad>
      <p>
        Base URL: <code>{baseUrl}/v1</code>. Keys go into{' '}
        <code>Authorization: Bearer sk-service-…</code>; here they are in the environment as{' '}
        <code>COUNTERFOIL_KEY</code>. For programs: <a href="/openapi.json">/openapi.json</a>{' '}
        (OpenAPI 3.1), one area of it (<code>/openapi/runs.json</code>),{' '}
        <a href="/llms.txt">/llms.txt</a>, and each of these pages as Markdown:{' '}
        <a href="/docs.md">/docs.md</a>.
      </p>
      {firstSteps(baseUrl).map(({ title, about, command }, i) => (
        <div class="stack">
          <p class="row">
            <strong>{title}</strong>
            <CopyButton of={`step-${i}`} />
          </p>
          {about === undefined ? null : (
            <p>
              <Prose>{about}</Prose>
            </p>
          )}
          <Code id={`step-${i}`} label={title} text={command} />
        </div>
      ))}
    </Pad>
  </Panel>
)

const Everywhere = () => (
  <Panel id="everywhere" title="What holds everywhere">
    <Pad>
      <ul>
        {rules.map((rule) => (
          <li>
            <Prose>{rule}</Prose>
          </li>
        ))}
      </ul>
    </Pad>
  </Panel>
)

const Clients = ({ baseUrl }: Props) => (
  <Panel id="clients" title="Official clients">
    <Pad>
      <p>They work unchanged: only the base URL and the key are set.</p>
      <Code label="Environment of an OpenAI client" text={environmentText(baseUrl)} />
      <ul>
        {notes.map((note) => (
          <li>
            <Prose>{note}</Prose>
          </li>
        ))}
      </ul>
      <Code label="A run that is charged once, however often it is sent" text={onceText} />
    </Pad>
  </Panel>
)

const Tools = ({ baseUrl }: Props) => (
  <Panel id="mcp" title="Tools (MCP)">
    <Pad>
      <p>
        <Prose>{toolText}</Prose>
      </p>
      <Code label="Configuration of an MCP client" text={clientText(baseUrl)} />
    </Pad>
  </Panel>
)

type ErrorRow = { type: string; status: number; message: string }

const Errors = () => (
  <Panel id="errors" title="Errors">
    <Pad>
      <p>
        <Prose>{errorText}</Prose>
      </p>
    </Pad>
    <Table
      caption="Errors"
      columns={errorColumns}
      rows={Object.entries(refusals).map(([type, [status, message]]) => ({
        type,
        status,
        message,
      }))}
      rowId={({ type }) => type}
    />
  </Panel>
)

const errorColumns: readonly Column<ErrorRow>[] = [
  { head: 'Type', cell: ({ type }) => <code>{type}</code> },
  { head: 'Status', kind: 'number', cell: ({ status }) => String(status) },
  { head: 'What it says', cell: ({ message }) => message },
]

/** All routes, by their pages. Those of the dashboard are folded: few programs call them. */
const AllRoutes = () => (
  <Panel id="routes" title="All routes">
    <Pad>
      <div class="chapters">
        {areasOf('programs').map((area) => (
          <section class="stack" aria-labelledby={`to-${area.id}`}>
            <h3 id={`to-${area.id}`}>
              <a href={`/docs/${area.id}`}>{area.title}</a>
            </h3>
            <Routes area={area} />
          </section>
        ))}
      </div>
    </Pad>
    <section class="pad stack" aria-labelledby="dashboard-api">
      <h3 id="dashboard-api">Dashboard API</h3>
      <p class="quiet">What the pages of an account call, with the cookie of a signed-in wallet.</p>
      {areasOf('dashboard').map((area) => (
        <details>
          <summary>
            {area.title} <span class="quiet">({area.operations.length})</span>
          </summary>
          <div class="stack">
            <a href={`/docs/${area.id}`}>Read: {area.title}</a>
            <Routes area={area} />
          </div>
        </details>
      ))}
    </section>
  </Panel>
)

const Routes = ({ area }: { area: Area }) => (
  <ul class="bare routes">
    {area.operations.map((operation) => (
      <li>
        <a href={`/docs/${area.id}#${operation.id}`}>
          <code>
            {methodOf(operation)} {pathOf(operation)}
          </code>
        </a>
      </li>
    ))}
  </ul>
)
