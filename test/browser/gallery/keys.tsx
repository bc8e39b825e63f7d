import { Button } from '../../../src/web/ui/button.tsx'
import { Confirm } from '../../../src/web/ui/confirm.tsx'
import { Code, CopyBox } from '../../../src/web/ui/copy-box.tsx'
import { Tabs } from '../../../src/web/ui/filters.tsx'
import {
  ActionForm,
  CheckField,
  ChoiceField,
  SelectField,
  TextField,
} from '../../../src/web/ui/form.tsx'
import { Notice } from '../../../src/web/ui/notice.tsx'
import { Pad, PageHead, Panel, Split } from '../../../src/web/ui/panel.tsx'
import { Badge } from '../../../src/web/ui/status.tsx'
import { Pager, Table } from '../../../src/web/ui/table.tsx'
import { keyColumns, keys } from './samples.tsx'

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
