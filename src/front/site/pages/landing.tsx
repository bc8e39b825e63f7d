/** The landing page's layout: a cover with a question and a slip, and the reasons below. */
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
  <>
    <section class="hero bleed" aria-labelledby="hero">
      <div class="cover">
        <div class="ask">
          <h1 id="hero">AI runs that leave a receipt.</h1>
          <p class="lead">
            Counterfoil is a prepaid, OpenAI-compatible gateway to AI models. Every single run is
            paid to the {nanoDollar}, can never overspend, and leaves a signed receipt that anyone
            can check against a public log.
          </p>
          <TerminalForm />
        </div>
        {view.newest ? <NewestSlip newest={view.newest} /> : <BlankSlip view={view} />}
      </div>
    </section>
    <div class="landing">
      {view.stats.receipts > 0 ? (
        <LiveFigures stats={view.stats} isAnchored={view.isAnchored} />
      ) : null}
      {view.newest ? <Story newest={view.newest} /> : null}
      <Why view={view} />
      <ModelPrices models={view.models} />
      <CheckSteps view={view} />
      <Audiences view={view} />
    </div>
  </>
)
