import { isHidden } from '../../../verify/receipt.ts'
import { proofIn, stampWords } from '../../../verify/shown-checks.ts'
import { hiddenWords, type SlipLine, slipLines } from '../../../verify/slip-lines.ts'
import { Address } from '../../../web/ui/address.tsx'
import { shortHash } from '../../../web/ui/hash.tsx'
import { Rosette } from '../../../web/ui/rosette.tsx'
import { Slip, Stamp } from '../../../web/ui/slip.tsx'
import type { Newest } from '../newest.ts'
import type { LandingView } from './landing.tsx'

/** The newest public receipt as paper, with a few of its lines, and the way to all of it. */
export function NewestSlip({ newest: { file, verdict } }: { newest: Newest }) {
  const { receipt, digest } = file
  const stamp = stampWords(verdict, proofIn({ verdict, file }))
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
        note="Who paid, and what was said, is shown only if its owner wants it."
        stamp={
          stamp ? (
            <Stamp against={stamp.against} bad={stamp.isBad}>
              {stamp.words}
            </Stamp>
          ) : null
        }
      />
      <figcaption>
        The newest public receipt.{' '}
        <a href={`/receipts/${receipt.id}`}>Check it in your own browser</a>
      </figcaption>
    </figure>
  )
}

/** Without the lines that stand on its page only, and no longer than a line. */
function shortened([name, value]: SlipLine): SlipLine[] {
  if (left.has(name)) return []
  return [[name, value?.startsWith('0x') ? shortHash(value) : value]]
}

const left = new Set(['Route', 'Key', 'Input hash', 'Output hash', 'Commitments'])

/** The paper that waits for the first receipt; all that it says is who is going to sign. */
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
        <p class="quiet">The next one can stand here.</p>
        <dl>
          {['Model', 'Run', 'Outcome', 'Input', 'Output', 'Paid by'].map((name) => (
            <>
              <dt>{name}</dt>
              <dd>—</dd>
            </>
          ))}
          <dt>Signed by</dt>
          <dd>
            <Address value={signer} />
          </dd>
        </dl>
        <div class="total">
          <span>Total</span>
          <span>—</span>
        </div>
        <p class="print quiet">Ask something below: the answer leaves a receipt.</p>
      </article>
    </div>
    <figcaption>
      <a href="#try">Make one now</a>
    </figcaption>
  </figure>
)
