/** The landing page's three commands to check a receipt. */
import { Address } from '../../../web/ui/address.tsx'
import { ButtonLink, CopyButton } from '../../../web/ui/button.tsx'
import type { Child } from '../../../web/ui/jsx-runtime.ts'
import type { LandingView } from './landing-view.ts'

export function CheckSteps({ view: { baseUrl, signer, newest } }: { view: LandingView }) {
  const id = newest?.file.receipt.id ?? 'rcpt_…'
  return (
    <section class="stack" aria-labelledby="check-title">
      <h2 id="check-title">Check a receipt yourself, in three steps</h2>
      <ol class="three bare">
        <Step
          id="step-file"
          title="Download it"
          code={`curl -s ${baseUrl}/v1/receipts/${id} > r.json`}
        >
          The file holds the run, its cost, the signature and its place in the log.
        </Step>
        <Step id="step-signer" title="Find out who signs" code={`curl -s ${baseUrl}/v1/signer`}>
          Or ask a source you trust more than this server. It is now <Address value={signer} />.
        </Step>
        <Step
          id="step-check"
          title="Check it offline"
          code={`counterfoil verify r.json --signer ${signer}`}
        >
          Change one digit and it names the check that fails, what it expected and what it found.
        </Step>
      </ol>
      <p class="row">
        <ButtonLink icon="verify" href="/verify">
          Check one in your browser
        </ButtonLink>
        <ButtonLink icon="download" href="/verify.html" download>
          Offline page
        </ButtonLink>
      </p>
    </section>
  )
}

type StepProps = { id: string; title: string; code: string; children: Child }

const Step = ({ id, title, code, children }: StepProps) => (
  <li class="sec">
    <h3>{title}</h3>
    <p>{children}</p>
    <section class="code wrap" tabindex="0" aria-label={`Command: ${title}`}>
      <pre id={id}>{code}</pre>
    </section>
    <CopyButton of={id} />
  </li>
)
