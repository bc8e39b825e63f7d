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
        <div class="grid2">
          <Snippet
            id="try-curl"
            title="Try it"
            label="Shell example"
            text={curlOf(baseUrl, model)}
          />
          <Snippet
            id="try-sdk"
            title="Or with the OpenAI SDK"
            label="Python example"
            text={sdkOf(baseUrl, model)}
          />
        </div>
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
    <Code id={id} label={label} text={text} />
  </div>
)

/** The code reads the secret from the environment variable `COUNTERFOIL_KEY`. */
const curlOf = (baseUrl: string, model: string): string =>
  `# with the key in COUNTERFOIL_KEY
curl ${baseUrl}/v1/chat/completions \\
  -H "Authorization: Bearer $COUNTERFOIL_KEY" \\
  -H "Content-Type: application/json" \\
  -d '${JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }] })}'`

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
