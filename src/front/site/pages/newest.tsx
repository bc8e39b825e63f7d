/** The landing page's receipt: the newest public one, or a blank. */
import type { Judgement } from '../../../proof/receipts/judge.ts'
import { verifierPath } from '../../../proof/receipts/pages/receipt.tsx'
import { isHidden } from '../../../verify/receipt.ts'
import { proofIn, stampWords } from '../../../verify/shown-checks.ts'
import { hiddenWords, type SlipLine, slipLines } from '../../../verify/slip-lines.ts'
import { Address } from '../../../web/ui/address.tsx'
import { shortHash } from '../../../web/ui/hash.tsx'
import { Rosette } from '../../../web/ui/rosette.tsx'
import { ServerWord, Slip } from '../../../web/ui/slip.tsx'
import { leftOut } from '../brief-slip.ts'
import type { LandingView } from './landing-view.ts'

/** The browser checks it as it does on its own page, and stamps it then. */
export function NewestSlip({ newest: judged }: { newest: Judgement }) {
  const { file, verdict, payload } = judged
  const { receipt, digest } = file
  return (
    <figure class="newest">
      <Slip
        id={receipt.id}
        heading="h2"
        at={Number(receipt.issuedAt)}
        digest={digest}
        lines={slipLines(receipt, verdict).flatMap(shortened)}
        total={isHidden(receipt.charge) ? undefined : BigInt(receipt.charge.amount)}
        hidden={hiddenWords}
        note="The owner decides whether to show who paid and what was said."
        stamp={<ServerWord of={stampWords(verdict, proofIn(judged))} />}
      />
      <div
        id="payload"
        hidden
        data-module={verifierPath()}
        data-payload={JSON.stringify(payload)}
      />
      <figcaption>
        The newest public receipt.{' '}
        <a href={`/receipts/${receipt.id}`}>Check it in your own browser</a>
      </figcaption>
    </figure>
  )
}

/** Drops the lines that only the receipt's page shows, and shortens hashes. */
function shortened([name, value]: SlipLine): SlipLine[] {
  if (leftOut.has(name)) return []
  return [[name, value?.startsWith('0x') ? shortHash(value) : value]]
}

/** The blank slip before the first public receipt, which names only the signer. */
export const BlankSlip = ({ view: { signer, stats } }: { view: LandingView }) => (
  <figure class="newest">
    <div class="slipwrap">
      <article class="slip" aria-labelledby="slip-id">
        <div class="mark">
          <Rosette hash={signer} label={`Figure of the signer ${shortHash(signer)}`} />
        </div>
        <p class="quiet">
          <small>Receipt</small>
        </p>
        <h2 id="slip-id">{stats.receipts === 0 ? 'No receipts yet' : 'No public receipts yet'}</h2>
        <p class="quiet">Yours can be the first.</p>
        <dl>
          {['Model', 'Run', 'Outcome', 'Input', 'Output', 'Paid by'].map((name) => (
            <>
              <dt>{name}</dt>
              <dd>–</dd>
            </>
          ))}
          <dt>Signed by</dt>
          <dd>
            <Address value={signer} />
          </dd>
        </dl>
        <div class="total">
          <span>Total</span>
          <span>–</span>
        </div>
        <p class="print quiet">Ask something below: the answer leaves a receipt.</p>
      </article>
    </div>
    <figcaption>
      <a href="#terminal-command">Make one now</a>
    </figcaption>
  </figure>
)
