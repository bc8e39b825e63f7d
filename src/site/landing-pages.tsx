import { TerminalForm } from '../terminal/form-pages.tsx'
import { ButtonLink } from '../ui/button.tsx'
import { Rosette } from '../ui/rosette.tsx'
import { Audiences } from './audience-pages.tsx'
import type { Newest } from './newest.ts'
import { NewestSlip } from './newest-pages.tsx'
import { CheckSteps } from './steps-pages.tsx'

export type LandingView = {
  baseUrl: string
  /** Address of the key that signs receipts now. */
  signer: string
  /** A chat model for the examples. */
  model: string
  isSignedIn: boolean
  takesDeposits: boolean
  newest: Newest | undefined
  /** Leaves of the log. */
  size: number
}

export const LandingPage = ({ view }: { view: LandingView }) => (
  <div class="landing">
    <section class="hero" aria-labelledby="hero">
      <div class="stack">
        <h1 id="hero">AI runs that leave a receipt.</h1>
        <p class="lead">
          Counterfoil is a prepaid, OpenAI-compatible gateway to AI models. Every run is paid to the
          nano-dollar, can never overspend, and leaves a signed receipt that anyone can check
          against a public log.
        </p>
        <p class="row">
          <ButtonLink look="go" icon="console" href="#try">
            Try it now
          </ButtonLink>
          {view.isSignedIn ? (
            <ButtonLink href="/dashboard">Open your dashboard</ButtonLink>
          ) : (
            <ButtonLink href="/signin">Connect wallet</ButtonLink>
          )}
        </p>
      </div>
      {view.newest ? <NewestSlip newest={view.newest} /> : <NoReceipt signer={view.signer} />}
    </section>
    <section class="stack" id="try" aria-labelledby="try-title">
      <h2 id="try-title">Try it without an account</h2>
      <TerminalForm />
    </section>
    <CheckSteps view={view} />
    <Audiences view={view} />
  </div>
)

const NoReceipt = ({ signer }: { signer: string }) => (
  <div class="sheet empty">
    <Rosette hash={signer} />
    <h2>No public receipts yet</h2>
    <p class="quiet">
      The first one that its owner shows to everybody stands here. Ask something below: the answer
      leaves one.
    </p>
    <ButtonLink href="#try">Make the first</ButtonLink>
  </div>
)
