/** The landing page's layout. */

import { ButtonLink } from '../../../web/ui/button.tsx'
import { TerminalForm } from '../../terminal/pages/prompt.tsx'
import { Audiences } from './audience.tsx'
import { LiveFigures } from './figures.tsx'
import type { LandingView } from './landing-view.ts'
import { BlankSlip, NewestSlip } from './newest.tsx'
import { CheckSteps } from './steps.tsx'
import { Story } from './story.tsx'
import { ModelPrices, Why } from './why.tsx'

/** A line does not break at its hyphen. */
const nanoDollar = <span class="hex">nano-dollar</span>

export const LandingPage = ({ view }: { view: LandingView }) => (
  <div class="landing">
    <section class="hero" aria-labelledby="hero">
      <div class="stack">
        <h1 id="hero">AI runs that leave a receipt.</h1>
        <p class="lead">
          Counterfoil is a prepaid, OpenAI-compatible gateway to AI models. Every single run is paid
          to the {nanoDollar}, can never overspend, and leaves a signed receipt that anyone can
          check against a public log.
        </p>
        <p class="row">
          <ButtonLink look="go" icon="console" href="#terminal-command">
            Try it now
          </ButtonLink>
          {view.isSignedIn ? (
            <ButtonLink href="/dashboard">Open your dashboard</ButtonLink>
          ) : (
            <ButtonLink href="/signin">Connect wallet</ButtonLink>
          )}
        </p>
      </div>
      {view.newest ? <NewestSlip newest={view.newest} /> : <BlankSlip view={view} />}
    </section>
    {view.newest ? <Story newest={view.newest} /> : null}
    {view.stats.receipts > 0 ? (
      <LiveFigures stats={view.stats} isAnchored={view.isAnchored} />
    ) : null}
    <section class="tryit" id="try" aria-labelledby="try-title">
      <div class="stack">
        <h2 id="try-title">Try it without an account</h2>
        <ol class="ways">
          <li>
            <strong>Ask something.</strong> This service pays for it.
          </li>
          <li>
            <strong>Open the receipt</strong> that the answer leaves.
          </li>
          <li>
            <strong>See it verified</strong> by your own browser, not by us.
          </li>
        </ol>
      </div>
      <TerminalForm />
    </section>
    <Why view={view} />
    <ModelPrices models={view.models} />
    <CheckSteps view={view} />
    <Audiences view={view} />
  </div>
)
