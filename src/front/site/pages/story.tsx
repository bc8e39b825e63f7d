/** The landing page's transcript: the life of the newest public run, as its receipt tells it. */
import type { Judgement } from '../../../proof/receipts/judge.ts'
import { meterWords } from '../../../verify/meter-words.ts'
import { isHidden } from '../../../verify/receipt.ts'
import { proofIn, stampWords } from '../../../verify/shown-checks.ts'
import { lineOf, totalOf } from '../../../verify/slip-lines.ts'
import { Amount } from '../../../web/ui/amount.tsx'
import { shortHash, shortId } from '../../../web/ui/hash.tsx'
import { RosetteMark } from '../../../web/ui/rosette.tsx'
import { ServerWord } from '../../../web/ui/slip.tsx'

/** Left out where the owner hides the run or its charge. */
export function Story({ newest }: { newest: Judgement }) {
  const { receipt, digest } = newest.file
  if (isHidden(receipt.run) || isHidden(receipt.charge)) return null
  return (
    <section class="story" aria-labelledby="story-title">
      <div class="stack">
        <h2 id="story-title">One run, from the hold to the stamp</h2>
        <p class="quiet">
          This is the newest public run of this service, as its receipt tells it. The stamp at the
          end comes from your own browser, after it has checked the signature, the sum and the log.
        </p>
      </div>
      <div class="sec term">
        {turnsOf(newest).map(([command, lines]) => (
          <div>
            <p class="asked">{command}</p>
            <pre class="out">{lines.join('\n')}</pre>
          </div>
        ))}
        <div>
          <p class="asked">verify {shortId(receipt.id)}</p>
          <div class="ending">
            <RosetteMark hash={digest} />
            <a href={`/receipts/${receipt.id}`}>{shortId(receipt.id)}</a>
            <Amount nusd={BigInt(receipt.charge.amount)} />
            <div class="place" id="story-stamp">
              <ServerWord of={stampWords(newest.verdict, proofIn(newest))} />
            </div>
          </div>
        </div>
      </div>
    </section>
  )
}

type Turn = [command: string, lines: string[]]

/** The run as a story, step by step. */
function turnsOf(judged: Judgement): Turn[] {
  const { file, verdict } = judged
  const { run, charge } = file.receipt
  if (isHidden(run) || isHidden(charge)) return []
  const seconds = (Number(run.durationMs) / 1000).toFixed(2)
  const proof = proofIn(judged)
  const lines = charge.lines.map((line) => `${meterWords(line.meter)}: ${lineOf(line)}`)
  const turns: Turn[] = [
    [
      `run ${run.model}`,
      ['The most it can cost is held.', `Outcome: ${run.outcome}, after ${seconds} s.`],
    ],
    ['charge', [...lines, `Total: ${totalOf(file.receipt)?.join('') ?? ''}, from the balance.`]],
    ['sign', [`Digest ${shortHash(file.digest)}`, `Signed by ${shortHash(verdict.signer ?? '')}`]],
  ]
  if (proof) {
    const place = (BigInt(proof.index) + 1n).toLocaleString('en-US')
    const size = BigInt(proof.size).toLocaleString('en-US')
    turns.push(['log', [`Leaf ${place} of ${size}, under a signed root.`]])
  }
  return turns
}
