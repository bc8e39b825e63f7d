/** The verdict on a file and its slip, as the browser's check draws them. */
import { isHidden, parseReceiptFile } from '../../../verify/receipt.ts'
import { proofIn, shownChecks, stampWords, stateWords } from '../../../verify/shown-checks.ts'
import { hiddenWords, slipLines } from '../../../verify/slip-lines.ts'
import { evidenceOf, summaryOf } from '../../../verify/verdict-words.ts'
import { Panel } from '../../../web/ui/panel.tsx'
import { ServerWord, Slip } from '../../../web/ui/slip.tsx'
import { Checks } from '../../../web/ui/steps.tsx'
import type { Judgement } from '../judge.ts'
import { noteOf, toneOf } from './receipt.tsx'

/** The server's verdict on a file, drawn like the one of the browser's own check. */
export const VerdictPanel = ({ judged }: { judged: Judgement }) => (
  <Panel
    id="result"
    title={<span class={['verdict', toneOf(judged)]}>{stateWords(judged.verdict)}</span>}
    foot={<span>Checked by the server.</span>}
  >
    <p class="pad quiet">
      {summaryOf(judged.verdict)} {evidenceOf(judged.verdict)}
    </p>
    <Checks id="checks" of={shownChecks(judged)} />
  </Panel>
)

/** The largest moment that has a date. */
const lastMs = 8_640_000_000_000_000n

/** The file as paper; nothing where it cannot be read. */
export function GivenPaper({ judged }: { judged: Judgement }) {
  const parsed = parseReceiptFile(judged.file)
  // Without an id in the verdict the checks could not read the file.
  if (judged.verdict.receipt_id === null || !parsed.ok) return null
  if (BigInt(parsed.file.receipt.issuedAt) > lastMs) return null
  const { verdict } = judged
  const { receipt, digest } = parsed.file
  return (
    <Slip
      id={receipt.id}
      heading="h2"
      at={Number(receipt.issuedAt)}
      digest={verdict.digest ?? digest}
      lines={slipLines(receipt, verdict)}
      total={isHidden(receipt.charge) ? undefined : BigInt(receipt.charge.amount)}
      hidden={hiddenWords}
      note={noteOf(parsed.file)}
      stamp={<ServerWord always of={stampWords(verdict, proofIn(judged))} />}
    />
  )
}
