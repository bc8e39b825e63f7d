/** The column beside a run: its slip. */
import { toHex } from '../../kernel/hex.ts'
import { inputUnitsOf, outputUnitsOf } from '../../models/meter.ts'
import { isEnded, receiptIdOf } from '../../proof/receipts/receipt.ts'
import { ButtonLink } from '../../web/ui/button.tsx'
import { Slip } from '../../web/ui/slip.tsx'
import type { ShownRun } from '../shown-run.ts'
import { receiptPath } from './run-state.tsx'

type Run = ShownRun['run']

/** The receipt in short, as a way to the whole one; a run in flight has none. */
export function SmallSlip({ run }: { run: Run }) {
  if (!isEnded(run)) return null
  return (
    <div class="smallslip stack">
      <Slip
        id={receiptIdOf(run.id)}
        heading="h2"
        at={run.finishedAt}
        digest={toHex(run.digest)}
        lines={[
          ['Model', run.model],
          ['Outcome', run.outcome],
          ['Input', inputUnitsOf(run.lines).toLocaleString('en-US')],
          ['Output', outputUnitsOf(run.lines).toLocaleString('en-US')],
        ]}
        total={run.cost}
      />
      <div class="row">
        <ButtonLink small href={receiptPath(run.id)}>
          Open receipt
        </ButtonLink>
      </div>
    </div>
  )
}
