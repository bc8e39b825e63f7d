import { Amount, amountText } from '../../../src/ui/amount.tsx'
import { Button, ButtonLink } from '../../../src/ui/button.tsx'
import { BarChart, LineChart } from '../../../src/ui/chart.tsx'
import { Confirm } from '../../../src/ui/confirm.tsx'
import { Code, CopyBox } from '../../../src/ui/copy-box.tsx'
import { Empty, Loading } from '../../../src/ui/empty.tsx'
import { Tabs } from '../../../src/ui/filters.tsx'
import {
  ActionForm,
  AreaField,
  CheckField,
  ChoiceField,
  SelectField,
  TextField,
} from '../../../src/ui/form.tsx'
import { Meter } from '../../../src/ui/meter.tsx'
import { ErrorNote, Notice } from '../../../src/ui/notice.tsx'
import { Facts, Pad, PageHead, Panel, Split } from '../../../src/ui/panel.tsx'
import { Badge, Live } from '../../../src/ui/status.tsx'
import { Steps } from '../../../src/ui/steps.tsx'
import { Pager, Table } from '../../../src/ui/table.tsx'
import { account, hashOf, keyColumns, keys, runColumns, runs } from './samples.tsx'

const dollars = [1.2, 1.9, 1.4, 0.5, 0.3, 2.2, 2.6, 2.1, 2.9, 1.6, 0.7, 0.4, 3.1, 2.4, 2.8]
const spend = [
  ...dollars,
  3.3,
  2.0,
  0.6,
  0.5,
  2.7,
  3.6,
  3.2,
  4.1,
  2.9,
  1.1,
  0.9,
  3.8,
  4.4,
  3.9,
  1.7,
]
const points = spend.map((value, i) => ({
  label: i === 29 ? 'Today' : i < 9 ? `Oct ${23 + i}` : `Nov ${i - 8}`,
  value,
  words: amountText(BigInt(Math.round(value * 100)) * 10_000_000n),
  open: i === 29,
}))

export const Overview = () => (
  <>
    <PageHead title="Overview">
      <div class="row">
        <ButtonLink href="/console" icon="console">
          Open console
        </ButtonLink>
        <ButtonLink href="/keys" look="go" icon="plus">
          New key
        </ButtonLink>
      </div>
    </PageHead>
    <Notice
      tone="warn"
      title="crawler-01 has $0.69 left under its cap."
      action={
        <ButtonLink href="/keys" small>
          Raise cap
        </ButtonLink>
      }
    >
      At today’s pace it stops in about 40 minutes.
    </Notice>
    <section class="sheet purse">
      <div class="sum">
        <h2>Balance</h2>
        <Amount nusd={48_217_904_038n} />
        <Facts
          of={[
            ['Held by runs now', <Amount nusd={34_100_000n} />],
            ['Lasts about', '14 days at $3.40 a day'],
          ]}
        />
        <div class="row">
          <ButtonLink href="/deposits" look="go" icon="deposits">
            Deposit
          </ButtonLink>
          <ButtonLink href="/usage">Export usage</ButtonLink>
        </div>
      </div>
      <div class="stack">
        <div class="row apart">
          <h2>Spend per day</h2>
          <small class="quiet">
            30 days: <Amount nusd={63_800_000_000n} />
          </small>
        </div>
        <BarChart
          id="spend"
          finding="Spend per day, last 30 days. Highest $4.40 on Nov 19. Today so far $1.70."
          points={points}
          head={['Day', 'Spend']}
          tick={(value) => `$${value}`}
        />
      </div>
    </section>
    <Split>
      <Panel
        id="runs"
        title="Recent runs"
        aside={<Live />}
        foot={<Pager older="/runs">Showing 5 of 1,284</Pager>}
      >
        <Table caption="Recent runs" columns={runColumns} rows={runs} bodyId="run-rows" />
      </Panel>
      <Panel
        id="start"
        title="Get your first receipt"
        aside={<small class="quiet">3 of 5 done</small>}
      >
        <Steps
          of={[
            { label: 'Connect a wallet', done: true },
            { label: 'Deposit or claim test credit', done: true },
            { label: 'Create a capped key', done: true },
            {
              label: 'Make a run with the key',
              done: false,
              action: (
                <ButtonLink href="/console" look="go" small>
                  Run one
                </ButtonLink>
              ),
            },
            {
              label: 'Verify its receipt in your browser',
              done: false,
              action: (
                <ButtonLink href="/receipt" small>
                  Open
                </ButtonLink>
              ),
            },
          ]}
        />
      </Panel>
    </Split>
    <Panel
      id="keys"
      title="Keys"
      aside={
        <ButtonLink href="/keys" small>
          Manage keys
        </ButtonLink>
      }
    >
      <Table caption="Keys" columns={keyColumns} rows={keys} />
    </Panel>
    <Panel id="trend" title="Tokens a minute">
      <Pad>
        <LineChart
          id="tokens"
          finding="Tokens a minute over the last half hour, rising."
          points={points}
          head={['Minute', 'Tokens']}
          tick={(value) => `${value}k`}
        />
      </Pad>
    </Panel>
  </>
)

const secret = 'sk-service-7hG2vQx0LwYt4mNc8RbKpZ1sJdE6uAf3XqVo9TiHkM5gBnW0aB3dE'

export const Keys = () => (
  <>
    <PageHead title="Keys">
      <p class="quiet">One capped key per agent. A child key stops when its parent is revoked.</p>
    </PageHead>
    <Panel id="new-key" title="Your new key" aside={<Badge tone="ok">Usable</Badge>}>
      <Pad>
        <Notice tone="warn" title="Copy it now. It is shown once.">
          Only its SHA-256 hash is stored. If you lose it, revoke it and create another.
        </Notice>
        <CopyBox id="secret" label="Secret key" value={secret} strong />
        <div class="grid2">
          <div class="stack">
            <h3>Try it</h3>
            <Code
              label="Shell example"
              text={`curl http://localhost:4663/v1/chat/completions \\\n  -H "Authorization: Bearer $KEY" \\\n  -d '{"model":"counterfoil/echo-1","messages":[{"role":"user","content":"hi"}]}'`}
            />
          </div>
          <div class="stack">
            <h3>Or with the OpenAI SDK</h3>
            <Code
              label="TypeScript example"
              text={
                'const ai = new OpenAI({\n  baseURL: "http://localhost:4663/v1",\n  apiKey: process.env.KEY,\n})'
              }
            />
          </div>
        </div>
        <ActionForm action="/api/portal/keys/stored" target="#new-key">
          <CheckField
            form="stored"
            name="stored"
            label="I have stored it somewhere safe"
            required
          />
          <Button look="go">Done</Button>
        </ActionForm>
      </Pad>
    </Panel>
    <Panel
      id="all-keys"
      title="All keys"
      aside={
        <Tabs
          label="State"
          here="/keys"
          tabs={[
            { href: '/keys', label: 'All', count: 4 },
            { href: '/keys?status=usable', label: 'Usable' },
            { href: '/keys?status=expired', label: 'Expired' },
            { href: '/keys?status=revoked', label: 'Revoked' },
          ]}
        />
      }
      foot={<Pager older={undefined}>4 keys</Pager>}
    >
      <Table caption="All keys" columns={keyColumns} rows={keys} />
    </Panel>
    <Split>
      <Panel id="create" title="Create a key">
        <ActionForm action="/api/portal/keys" target="#new-key" look="stack">
          <div class="grid2">
            <TextField
              name="name"
              label="Name"
              value="crawler-03"
              hint="Only you see it."
              required
            />
            <SelectField
              name="parent_id"
              label="Parent"
              hint="A child can never outlive or outspend its parent."
              value="a"
              options={[
                { value: 'a', label: 'research-fleet, $18.60 left' },
                { value: '', label: 'None' },
              ]}
            />
            <TextField
              name="cap"
              label="Cap, USD"
              value="25.00"
              inputmode="decimal"
              error="Its parent has $18.60 left. Enter $18.60 or less."
            />
            <ChoiceField
              name="expires"
              label="Expires in"
              value="30d"
              options={[
                { value: '1d', label: '1 day' },
                { value: '30d', label: '30 days' },
                { value: '90d', label: '90 days' },
              ]}
            />
          </div>
          <div class="row">
            <Button look="go">Create key</Button>
            <span class="htmx-indicator quiet">Creating…</span>
          </div>
        </ActionForm>
      </Panel>
      <Confirm
        id="revoke"
        title="Revoke research-fleet?"
        consequence={
          <>
            This stops <strong>3 keys at once</strong> and cannot be undone. Runs in progress stop
            within 2 s; what they delivered is charged.
          </>
        }
        affected={['research-fleet', 'crawler-01, used just now', 'crawler-02, used 1 h ago']}
        action="/api/portal/keys/x/revoke"
        target="#all-keys"
        button="Revoke 3 keys"
        keep="Keep them"
        keepHref="/keys"
      />
    </Split>
  </>
)

export const Console = () => (
  <>
    <PageHead title="Console">
      <div class="row">
        <SelectField
          name="model"
          label="Model"
          options={[{ value: 'a', label: 'acme/large, $15 per 1M' }]}
        />
        <SelectField
          name="key"
          label="Pay with"
          options={[{ value: 'a', label: 'research-fleet' }]}
        />
      </div>
    </PageHead>
    <Split>
      <section class="sheet" aria-label="Conversation">
        <div class="talk" aria-live="polite">
          <p class="you">Why batch receipts before writing a root to the chain?</p>
          <p class="it">
            One transaction can carry any number of receipts, so the cost of anchoring is split
            between them. A Merkle root commits to every receipt in the batch, and a short path of
            hashes proves that one of them is inside without showing
          </p>
        </div>
        <ActionForm action="/api/portal/console" target="#talk" swap="beforeend" look="stack">
          <AreaField name="input" label="Message" placeholder="Write a message" />
          <div class="row apart">
            <small class="quiet">
              Holds up to <Amount nusd={76_800_000n} />. You pay only for what is used.
            </small>
            <Button look="go">Send</Button>
          </div>
        </ActionForm>
      </section>
      <Panel id="this-run" title="This run" aside={<Live>Streaming</Live>}>
        <Pad>
          <Meter used={21_400_000n} limit={76_800_000n} of="held" />
          <Facts
            of={[
              ['First token', <data value="612">612 ms</data>],
              ['Speed', <data value="84">84 tokens/s</data>],
              ['Output', <data value="1388">1,388 tokens</data>],
            ]}
          />
          <Code
            label="Same call as code"
            text={
              <>
                <i># same call from an agent</i>
                {'\n'}
                <b>curl</b> -N …/v1/chat/completions
              </>
            }
          />
        </Pad>
      </Panel>
    </Split>
    <ErrorNote
      what="The upstream stopped after 212 tokens."
      charged="You were charged $0.00318 for those, and the rest of the hold was released."
      retry={
        <ButtonLink href="/console" small>
          Retry
        </ButtonLink>
      }
      requestId="req_01k7r01x"
    />
    <section class="sheet">
      <Empty
        hash={hashOf(account)}
        title="No runs in this session yet"
        action={<ButtonLink href="/console">Insert an example</ButtonLink>}
      >
        Send a message above. Each run gets a signed receipt you can keep or share.
      </Empty>
    </section>
    <section class="sheet">
      <Loading what="runs" />
    </section>
  </>
)
