import { Slip, Stamp } from '../ui/slip.tsx'
import { isHidden } from '../verify/receipt.ts'
import { proofIn, stampWords } from '../verify/shown-checks.ts'
import { hiddenWords, slipLines } from '../verify/slip-lines.ts'
import type { Newest } from './newest.ts'

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
        lines={slipLines(receipt, verdict).filter(([name]) => !left.has(name))}
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

/** Lines that stand on its page only. */
const left = new Set(['Route', 'Key', 'Input hash', 'Output hash', 'Commitments', 'Digest'])
