import { ButtonLink, CopyButton } from '../ui/button.tsx'
import { Icon, type IconName } from '../ui/icon.tsx'
import type { Child } from '../ui/jsx-runtime.ts'
import type { LandingView } from './landing-pages.tsx'

/** The same thing three times: for whoever pays, whatever calls, and whoever runs it. */
export const Audiences = ({ view }: { view: LandingView }) => (
  <section class="stack" aria-labelledby="for-title">
    <h2 id="for-title">Who it is for</h2>
    <div class="three">
      <Audience icon="keys" title="For people">
        <ol class="ways">
          <li>
            <strong>A wallet is the account.</strong> No e-mail, no password: a signature that costs
            nothing.
          </li>
          <li>
            <strong>A prepaid balance.</strong>{' '}
            {view.takesDeposits
              ? 'Send stablecoins on chain 4663; what is not there cannot be spent.'
              : 'The operator of this server grants it; what is not there cannot be spent.'}
          </li>
          <li>
            <strong>A capped key for each agent.</strong> It ends at its cap and at its date, and so
            do all keys below it.
          </li>
        </ol>
        <p class="row">
          {view.isSignedIn ? (
            <ButtonLink look="go" href="/dashboard">
              Open your dashboard
            </ButtonLink>
          ) : (
            <ButtonLink look="go" href="/signin">
              Connect wallet
            </ButtonLink>
          )}
          <ButtonLink href="/plans">Plans</ButtonLink>
        </p>
      </Audience>
      <Audience icon="runs" title="For agents">
        <p>OpenAI’s clients work unchanged. The receipt’s id comes with every answer.</p>
        <Lines id="agent-curl" label="Call it with curl" text={curlOf(view)} />
        <Lines id="agent-sdk" label="Call it with the OpenAI SDK" text={sdkOf(view)} />
        <p class="row">
          <CopyButton of="agent-curl" label="Copy curl" />
          <ButtonLink href="/models">Models</ButtonLink>
        </p>
      </Audience>
      <Audience icon="settings" title="For operators">
        <p>
          One file, your own machine, your own model servers. Data lives in SQLite beside it, or in
          PostgreSQL.
        </p>
        <Lines id="operator-lines" label="Run your own" text={operatorLines} />
        <p class="row">
          <CopyButton of="operator-lines" label="Copy commands" />
        </p>
      </Audience>
    </div>
  </section>
)

type AudienceProps = { icon: IconName; title: string; children: Child }

const Audience = ({ icon, title, children }: AudienceProps) => (
  <section class="sheet">
    <h3>
      <Icon name={icon} /> {title}
    </h3>
    {children}
  </section>
)

const Lines = ({ id, label, text }: { id: string; label: string; text: string }) => (
  <section class="code" tabindex="0" aria-label={label}>
    <pre id={id}>{text}</pre>
  </section>
)

const curlOf = ({ baseUrl, model }: LandingView): string =>
  `curl ${baseUrl}/v1/chat/completions \\
  -H "Authorization: Bearer $COUNTERFOIL_KEY" \\
  -H "Content-Type: application/json" \\
  -d '${JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }] })}'`

const sdkOf = ({ baseUrl }: LandingView): string =>
  `from openai import OpenAI

ai = OpenAI(base_url="${baseUrl}/v1",
            api_key=os.environ["COUNTERFOIL_KEY"])`

const operatorLines = `counterfoil serve --dev
counterfoil grant 0xYourWallet 25.00 \\
  --reason "first customers"
counterfoil key create --account 0xYourWallet \\
  --cap 5.00 --window day --expires 30d
counterfoil serve`
