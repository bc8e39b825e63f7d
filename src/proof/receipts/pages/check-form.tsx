/** The page `/verify`: the form and its result. */
import type { Deps } from '../../../app/deps-port.ts'
import { payloadSigners } from '../../../verify/page-payload.ts'
import { assetPath } from '../../../web/http/assets.ts'
import { Button, ButtonLink } from '../../../web/ui/button.tsx'
import { Icon } from '../../../web/ui/icon.tsx'
import type { Child } from '../../../web/ui/jsx-runtime.ts'
import { PageHead, Panel } from '../../../web/ui/panel.tsx'
import { signersOf, upstreamKeysOf } from '../check-receipt.ts'
import type { Judgement } from '../judge.ts'
import { GivenPaper, VerdictPanel } from './verdict.tsx'

export type CheckView = {
  /** What was typed. */
  text: string
  signers: string
  quote: string
  evidence: string
  policy: string
  /** What is wrong with it. */
  fault?:
    | { field: 'text' | 'signers' | 'quote' | 'evidence' | 'policy'; message: string }
    | undefined
  /** What came out. */
  judged?: Judgement
}

export const VerifyPage = ({ view, deps }: { view: CheckView; deps: Deps }) => (
  <>
    <PageHead title="Verify a receipt">
      <p class="quiet slot">
        <span>This service checks what you send. It keeps nothing.</span>
        <span class="unseen" id="stays-here">
          Checked in your browser. What you drop stays on this page.
        </span>
      </p>
    </PageHead>
    <div class="split beside">
      <Form view={view} />
      <div class="stack side" id="verdict" aria-live="polite">
        {view.judged ? <VerdictPanel judged={view.judged} /> : <Levels />}
      </div>
      <div class="stack wide">
        <div id="paper">{view.judged ? <GivenPaper judged={view.judged} /> : null}</div>
        <WithoutUs baseUrl={deps.settings.baseUrl} />
      </div>
    </div>
    <ForTheBrowser deps={deps} />
  </>
)

const Form = ({ view }: { view: CheckView }) => (
  <section class="sec" aria-label="What to check">
    <form
      class="pad stack"
      id="check"
      method="post"
      action="/verify"
      enctype="multipart/form-data"
      novalidate
    >
      <div class="drop" id="drop">
        <label for="file">Drop a receipt file here, or choose one</label>
        <input type="file" id="file" name="file" accept=".json,application/json" />
      </div>
      <div class="field">
        <label for="text">Or paste it, its id or its link</label>
        <textarea
          class="in mono"
          id="text"
          name="text"
          rows="5"
          spellcheck="false"
          placeholder={'{"type": "counterfoil.receipt", …}  or  rcpt_…'}
          aria-describedby="text-error"
          aria-invalid={view.fault?.field === 'text' ? 'true' : undefined}
        >
          {view.text}
        </textarea>
        <Fault of="text" view={view} />
      </div>
      <Signers view={view} />
      <details open={besideFields.some((name) => isOpen(view, name))}>
        <summary>A quote, evidence or a policy?</summary>
        <div class="stack">
          <BesideField view={view} name="quote" label="Quote that was promised">
            The answer of <code>POST /v1/quotes</code>, if the receipt names one: the check finds a
            line that is dearer.
          </BesideField>
          <BesideField view={view} name="evidence" label="Evidence of the upstream">
            The answer of <code>GET /v1/receipts/&lt;id&gt;/proof?format=evidence</code>, if the
            upstream of the run signs its answers.
          </BesideField>
          <BesideField view={view} name="policy" label="Policy: whom you trust">
            Signers, witnesses, their quorum and keys of upstreams, as{' '}
            <code>counterfoil verify --policy</code> takes them.
          </BesideField>
        </div>
      </details>
      <p class="row">
        <Button look="go" icon="verify">
          Verify
        </Button>
      </p>
    </form>
  </section>
)

type FieldProps = { view: CheckView; of: NonNullable<CheckView['fault']>['field'] }

const Fault = ({ view: { fault }, of }: FieldProps) => (
  <small class="err" id={`${of}-error`} role="alert">
    {fault?.field === of ? fault.message : null}
  </small>
)

const isOpen = (view: CheckView, name: FieldProps['of']): boolean =>
  view[name] !== '' || view.fault?.field === name

const Signers = ({ view }: { view: CheckView }) => (
  <details open={isOpen(view, 'signers')}>
    <summary>From another service?</summary>
    <div class="field">
      <label for="signers">Which signers do you trust?</label>
      <input
        class="in mono"
        id="signers"
        name="signers"
        value={view.signers}
        spellcheck="false"
        autocomplete="off"
        placeholder="0x…"
        aria-describedby="signers-error signers-hint"
        aria-invalid={view.fault?.field === 'signers' ? 'true' : undefined}
      />
      <Fault of="signers" view={view} />
      <small id="signers-hint">
        Addresses you know from a source other than the receipt. If empty, this service must have
        signed it.
      </small>
    </div>
  </details>
)

const besideFields = ['quote', 'evidence', 'policy'] as const

type BesideProps = {
  view: CheckView
  name: (typeof besideFields)[number]
  label: string
  children: Child
}

const BesideField = ({ view, name, label, children }: BesideProps) => (
  <div class="field">
    <label for={name}>{label}</label>
    <textarea
      class="in mono"
      id={name}
      name={name}
      rows="3"
      spellcheck="false"
      aria-describedby={`${name}-error ${name}-hint`}
      aria-invalid={view.fault?.field === name ? 'true' : undefined}
    >
      {view[name]}
    </textarea>
    <Fault of={name} view={view} />
    <small id={`${name}-hint`}>{children}</small>
  </div>
)

/** What a verdict can say, before there is one. */
const Levels = () => (
  <Panel id="levels" title="What is checked">
    <ol class="steps bare">
      <Level name="Signed">A key of this service signed exactly these fields.</Level>
      <Level name="Signed and logged">The receipt is in the public log, which only grows.</Level>
      <Level name="Anchored">The root of that log is on chain 4663.</Level>
      <Level name="Final">Its block is final and cannot change any more.</Level>
    </ol>
    <footer>
      <span>If one check fails: Not valid, and what was expected and found.</span>
    </footer>
  </Panel>
)

const Level = ({ name, children }: { name: string; children: string }) => (
  <li>
    <span>
      <strong>{name}</strong>
      <br />
      <small class="quiet">{children}</small>
    </span>
  </li>
)

const WithoutUs = ({ baseUrl }: { baseUrl: string }) => (
  <section class="stack" aria-labelledby="without-us">
    <h2 id="without-us">Without this page</h2>
    <p>
      The same checks run offline: as a command, or as one HTML file that cannot connect to
      anything. The file holds its own proof.
    </p>
    <section class="code wrap commands" tabindex="0" aria-label="Commands">
      <pre>
        <b>curl</b> -s {baseUrl}/v1/signer{'\n'}
        <b>counterfoil</b> verify r.json --signer 0x…
      </pre>
    </section>
    <p class="row">
      <ButtonLink href="/verify.html" icon="download" download>
        Offline page
      </ButtonLink>
    </p>
  </section>
)

/** Whom this service names as its signers, in each of its logs, and what the script draws with. */
const ForTheBrowser = ({ deps }: { deps: Deps }) => (
  <div
    id="here"
    hidden
    data-module={assetPath('verify.js')}
    data-evidence={assetPath('evidence.js')}
    data-asks={deps.anchoring.chain ? 'yes' : undefined}
    data-base={deps.settings.baseUrl}
    data-upstream-keys={JSON.stringify(upstreamKeysOf(deps))}
    data-logs={JSON.stringify(
      deps.logs.all.map(({ origin }) => ({
        origin,
        signers: payloadSigners(signersOf(deps, origin)),
      })),
    )}
  >
    {(['ok', 'wait', 'bad'] as const).map((name) => (
      <span id={`icon-${name}`}>
        <Icon name={name} />
      </span>
    ))}
  </div>
)
