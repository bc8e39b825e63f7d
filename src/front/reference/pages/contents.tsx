/** The first page of the reference. */
import { refusals } from '../../../kernel/refusal.ts'
import { Code } from '../../../web/ui/copy-box.tsx'
import { Pad, Panel, Split } from '../../../web/ui/panel.tsx'
import { type Column, Table } from '../../../web/ui/table.tsx'
import { areas } from '../areas/areas.ts'
import { firstSteps } from '../first-steps.ts'
import { type Area, type Group, methodOf, pathOf } from '../operation.ts'
import { Prose } from './parts.tsx'

type Props = { baseUrl: string }

/** The front of the reference: how to begin, what holds everywhere, and where everything is. */
export const OverviewPage = ({ baseUrl }: Props) => (
  <Split>
    <div class="stack wide">
      <Begin baseUrl={baseUrl} />
      <Everywhere />
      <Clients baseUrl={baseUrl} />
      <Tools baseUrl={baseUrl} />
      <Errors />
    </div>
    <Contents />
  </Split>
)

const Begin = ({ baseUrl }: Props) => (
  <Panel id="begin" title="Begin">
    <Pad>
      <p>
        Base URL: <code>{baseUrl}/v1</code>. Keys go into{' '}
        <code>Authorization: Bearer sk-service-…</code>; here they are in the environment as{' '}
        <code>COUNTERFOIL_KEY</code>. For programs: <a href="/openapi.json">/openapi.json</a>{' '}
        (OpenAPI 3.1), <a href="/llms.txt">/llms.txt</a>.
      </p>
      {firstSteps(baseUrl).map(({ title, command }) => (
        <div class="stack">
          <p>
            <strong>{title}</strong>
          </p>
          <Code label={title} text={command} />
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

const rules = [
  'Money is integer nano-USD (`_nusd`): 1 USD is 1,000,000,000. Prices are integer pico-USD a ' +
    'unit (`_pusd`), the same as micro-USD a million units.',
  'Times are RFC 3339, UTC, with milliseconds (`created_at`); Unix seconds in OpenAI’s shapes ' +
    '(`created`); decimal text in milliseconds inside of receipts.',
  'Lists: `limit` (1 to 100, 20 if absent) and `after` (the `last_id` of the page before), ' +
    'newest first, with `has_more`.',
  'Bodies are JSON, uncompressed, at most 4 MiB unless the operator says otherwise. Native ' +
    'routes refuse members they do not know; OpenAI’s ignore them.',
  '`Idempotency-Key` makes a repeated run, or a key that is made, the same one for 24 hours: ' +
    'same body, same answer, with `Idempotent-Replayed: true`; another body is a 422; ' +
    'one that still runs is a 409.',
  'Every answer has `X-Request-Id`. Answers to keys say in `RateLimit`, `RateLimit-Policy` and ' +
    '`x-ratelimit-limit-requests`, `-remaining-requests`, `-reset-requests` where the nearest ' +
    'limit stands.',
  'Web pages of any origin may read the keyless routes, without credentials.',
  'Routes under `/api` use the session cookie of a wallet, not a key, and refuse changes from ' +
    'other origins (`csrf_failed`). They take JSON, or a form where one is described. They ' +
    'answer JSON, a fragment to htmx (`HX-Request: true`), and a page or 303 to a browser that ' +
    'wants a page (`Accept: text/html`).',
  'The reference has every route under `/v1`, `/api` and `/mcp`, the probes and the two ' +
    'documents. All other paths are pages for people. `/metrics` has its own listener.',
]

const Clients = ({ baseUrl }: Props) => (
  <Panel id="clients" title="Official clients">
    <Pad>
      <p>They work unchanged: only the base URL and the key are set.</p>
      <Code
        label="Environment of an OpenAI client"
        text={`export OPENAI_BASE_URL=${baseUrl}/v1 OPENAI_API_KEY=$COUNTERFOIL_KEY`}
      />
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

const notes = [
  'openai’s `idempotencyKey` option sends no header: say `headers: {"Idempotency-Key": …}`.',
  'They retry 408, 409, 429 and 5xx by themselves. Before a 5xx goes out the hold was released, ' +
    'so a retried run is charged once. `retry-after-ms` and `retry-after` say how long to wait.',
  'Money that does not suffice is a 402, with `x-should-retry: false`: none retries it, but ' +
    'where only runs of the same key are in the way (`true`, with `retry-after`). ' +
    '`error.metadata.max_affordable_output_tokens` says what would fit; `fit: true` in the body, ' +
    'the header `X-Counterfoil-Fit: true` or `limits.fit` of the key lowers `max_tokens` to it.',
  'A stream that fails after its first chunk carries `data: {"error":{…}}` and ends without ' +
    '`[DONE]`; all of them raise it. Delivered output was charged.',
  'The `receipt` of a run is a member of the answer; in a stream of its last chunk: the usage ' +
    'chunk with `stream_options: {"include_usage": true}`, else the one that finishes.',
]

const onceText = `const run = await client.chat.completions.create(
  { model: 'counterfoil/echo-1', messages: [{ role: 'user', content: 'Once.' }] },
  { headers: { 'Idempotency-Key': 'order-1' } },
)
console.log(run.receipt.id, run.usage.cost_nusd)`

const Tools = ({ baseUrl }: Props) => (
  <Panel id="mcp" title="Tools (MCP)">
    <Pad>
      <p>
        <code>POST /mcp</code> speaks the Model Context Protocol over streamable HTTP, without
        sessions: <code>list_models</code>, <code>run</code>, <code>get_receipt</code>,{' '}
        <code>verify_receipt</code>, <code>get_proof</code>, <code>key_self</code>,{' '}
        <code>usage</code>. Each is a request to <code>/v1</code> with the same key, limits and
        errors; models, proofs, shared receipts and their verification need no key.
      </p>
      <Code
        label="Configuration of an MCP client"
        text={JSON.stringify(
          {
            mcpServers: {
              counterfoil: {
                url: `${baseUrl}/mcp`,
                headers: { Authorization: 'Bearer sk-service-…' },
              },
            },
          },
          null,
          2,
        )}
      />
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

const errorText =
  'One body everywhere: `{"error": {"type", "code", "message", "param", "request_id", ' +
  '"metadata"?}}`. `code` equals `type`, the message says what to do next, and `param` is the ' +
  'path of a wrong field.'

const errorColumns: readonly Column<ErrorRow>[] = [
  { head: 'Type', cell: ({ type }) => <code>{type}</code> },
  { head: 'Status', kind: 'number', cell: ({ status }) => String(status) },
  { head: 'What it says', cell: ({ message }) => message },
]

/** All routes, by their pages. Those of the dashboard are folded: few programs call them. */
const Contents = () => (
  <nav class="stack" aria-label="Routes">
    {areasOf('programs').map((area) => (
      <section class="stack" aria-labelledby={`to-${area.id}`}>
        <h2 id={`to-${area.id}`}>
          <a href={`/docs/${area.id}`}>{area.title}</a>
        </h2>
        <Routes area={area} />
      </section>
    ))}
    <section class="stack" aria-labelledby="dashboard-api">
      <h2 id="dashboard-api">Dashboard API</h2>
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
  </nav>
)

const areasOf = (group: Group): readonly Area[] => areas.filter((area) => area.group === group)

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
