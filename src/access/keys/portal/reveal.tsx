/** Shows a new secret once, with code that uses it. */
import type { KeyRow } from '../../../storage/db/schema/schema.ts'
import { CopyButton } from '../../../web/ui/button.tsx'
import { Code, CopyBox } from '../../../web/ui/copy-box.tsx'
import { Notice } from '../../../web/ui/notice.tsx'
import { Pad, Panel } from '../../../web/ui/panel.tsx'
import { Badge } from '../../../web/ui/status.tsx'
import { StoredForm } from '../../../web/ui/stored-form.tsx'
import { keyPath, keysPath } from './key-state.tsx'

export type RevealView = {
  key: KeyRow
  secret: string
  baseUrl: string
  /** A chat model that the key may use. */
  model: string
  /** Whether the key is new, or only its secret. */
  by: 'create' | 'rotate'
}

/** It takes the focus, so that screen readers announce it. */
export const Reveal = ({ view: { key, secret, baseUrl, model, by } }: { view: RevealView }) => (
  <div class="reveal" id="new-key" tabindex="-1" autofocus>
    <Panel
      id="secret-once"
      title={by === 'create' ? 'Your new key' : 'The new secret'}
      aside={<Badge tone="ok">{key.name}</Badge>}
    >
      <Pad>
        <Notice tone="warn" title="Copy it now. It is shown once.">
          Only its SHA-256 hash is stored.{' '}
          {by === 'create'
            ? 'If you lose it, rotate or revoke the key.'
            : 'If you lose it, rotate the key again.'}
        </Notice>
        <CopyBox id="secret" label="Secret key" value={secret} strong />
        <Snippet
          id="try-curl"
          title="Paste this into a shell"
          label="Shell example"
          text={shellOf(baseUrl, model, secret)}
        />
        {by === 'create' ? <FirstRun keyId={key.id} /> : null}
        <details>
          <summary>With the OpenAI SDK of Python</summary>
          <Snippet
            id="try-sdk"
            title="The same in Python"
            label="Python example"
            text={sdkOf(baseUrl, model)}
          />
        </details>
        <StoredForm action={by === 'create' ? keysPath : keyPath(key.id)} />
      </Pad>
    </Panel>
  </div>
)

type SnippetProps = { id: string; title: string; label: string; text: string }

const Snippet = ({ id, title, label, text }: SnippetProps) => (
  <div class="stack">
    <div class="row apart">
      <h3>{title}</h3>
      <CopyButton of={id} label="Copy code" />
    </div>
    <Code id={id} label={label} text={text} wrap />
  </div>
)

/** The place of the first run of a new key, which comes in by itself; a link leads to it too. */
const FirstRun = ({ keyId }: { keyId: string }) => (
  <p
    class="row"
    id="first-run"
    role="status"
    hx-sse:connect={`/api/portal/keys/${keyId}/live?mark=none`}
    hx-target="#first-run"
    hx-swap="outerHTML"
  >
    <span class="live">Waiting for the first run</span>
    <a href={`/dashboard/runs?key=${keyId}`}>Look for it under Runs</a>
  </p>
)

/** A block that works as it is pasted. The SDKs read the second and third variable too. */
const shellOf = (baseUrl: string, model: string, secret: string): string =>
  `export COUNTERFOIL_KEY=${secret}
export OPENAI_API_KEY="$COUNTERFOIL_KEY"
export OPENAI_BASE_URL=${baseUrl}/v1

curl "$OPENAI_BASE_URL/chat/completions" \\
  -H "Authorization: Bearer $COUNTERFOIL_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "${model}",
       "messages": [{"role": "user", "content": "hi"}]}'`

/** The code reads the secret from the environment. */
const sdkOf = (baseUrl: string, model: string): string =>
  `import os
from openai import OpenAI

ai = OpenAI(
    base_url="${baseUrl}/v1",
    api_key=os.environ["COUNTERFOIL_KEY"],
)
answer = ai.chat.completions.create(
    model="${model}",
    messages=[{"role": "user", "content": "hi"}],
)`
