/** The landing page's sections for people, programs and operators. */
import { ButtonLink, CopyButton } from '../../../web/ui/button.tsx'
import { CopyBox } from '../../../web/ui/copy-box.tsx'
import { Icon, type IconName } from '../../../web/ui/icon.tsx'
import type { Child } from '../../../web/ui/jsx-runtime.ts'
import type { LandingView } from './landing-view.ts'

export const Audiences = ({ view }: { view: LandingView }) => (
  <section class="stack" aria-labelledby="for-title">
    <h2 id="for-title">Who it is for</h2>
    <div class="three forwhom">
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
        <p>
          OpenAI’s clients work unchanged: two variables, and the receipt comes with the answer.
        </p>
        <CopyBox id="base-url" label="Base URL" value={`${view.baseUrl}/v1`} />
        <Lines id="agent-curl" label="Call it with curl" text={curlOf(view)} />
        <Lines id="agent-sdk" label="Call it with the OpenAI SDK" text={sdkOf(view)} />
        <p class="row">
          <CopyButton of="agent-curl" label="Copy curl" />
          <CopyButton of="agent-sdk" label="Copy Python" />
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
  <section class="sec">
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
  `export OPENAI_BASE_URL=${baseUrl}/v1
export OPENAI_API_KEY=sk-service-…

curl $OPENAI_BASE_URL/chat/completions \\
  -H "Authorization: Bearer $OPENAI_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "${model}",
  "messages": [{"role": "user", "content": "hi"}]}'`

const sdkOf = ({ model }: LandingView): string =>
  `from openai import OpenAI

OpenAI().chat.completions.create(
  model="${model}",
  messages=[{"role": "user", "content": "hi"}])`

const operatorLines = `# throw-away data, a ready key
counterfoil serve --dev

# for real use
counterfoil grant 0xYourWallet \\
  25.00 --reason "credit"
counterfoil key create \\
  --account 0xYourWallet \\
  --cap 5.00 --window day
counterfoil serve`
